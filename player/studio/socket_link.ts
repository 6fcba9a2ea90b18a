/** The link over a WebSocket: it connects again when the server is back, and says so meanwhile. */

import { decode, encode } from "./frames.js";
import type { Answer, Arrays, Data, Link, Listener } from "./link.js";

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** Milliseconds until it connects again: each time longer. */
const [FIRST, LAST] = [250, 4000];

/** What a connection is closed with whose token is wrong, or where too many pages are open. */
export const REFUSED = 4403;

export class SocketLink implements Link {
  editor = false;
  private socket: WebSocket | null = null;
  private number = 0;
  private delay = FIRST;
  private readonly waiting = new Map<number, Waiting>();
  private readonly listeners = new Map<string, Set<Listener>>();

  constructor(private readonly address: string) {}

  /** Connect; "connected" and "disconnected" are events like those of the server. */
  connect(): void {
    const socket = new WebSocket(this.address);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.delay = FIRST;
      this.tell("connected", {}, {});
    });
    socket.addEventListener("message", (event) => this.take(event.data));
    socket.addEventListener("close", (event) => this.lose(event.code));
    this.socket = socket;
  }

  request(what: string, data: Data = {}, arrays: Arrays = {}): Promise<Answer> {
    const { socket } = this;
    if (socket?.readyState !== WebSocket.OPEN) {
      return Promise.reject(new Error("the studio is not connected; it connects again when the server is back"));
    }
    const id = ++this.number;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      socket.send(encode({ id, do: what, ...data }, arrays));
    });
  }

  on(event: string, listener: Listener): () => void {
    const heard = this.listeners.get(event) ?? new Set();
    this.listeners.set(event, heard.add(listener));
    return () => heard.delete(listener);
  }

  private take(frame: string | ArrayBuffer): void {
    const { fields, arrays } = decode(frame);
    if (typeof fields.event === "string") {
      if (typeof fields.role === "string") this.editor = fields.role === "editor";
      this.tell(fields.event, fields, arrays);
      return;
    }
    const waiting = this.waiting.get(fields.id as number);
    this.waiting.delete(fields.id as number);
    if (typeof fields.error === "string") waiting?.reject(new Error(fields.error));
    else waiting?.resolve({ ok: fields.ok as Record<string, unknown>, arrays });
  }

  private lose(code: number): void {
    this.editor = false;
    for (const { reject } of this.waiting.values()) reject(new Error("the connection to the studio was lost"));
    this.waiting.clear();
    this.tell("disconnected", { code }, {});
    // Another studio listens here now, which has another token: only its own address leads to it.
    if (code === REFUSED) return;
    window.setTimeout(() => this.connect(), this.delay);
    this.delay = Math.min(LAST, 2 * this.delay);
  }

  private tell(event: string, data: Data, arrays: Arrays): void {
    for (const listener of this.listeners.get(event) ?? []) listener(data, arrays);
  }
}
