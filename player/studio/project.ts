/** The project as the page knows it: what the server says of it, and the requests of the buttons. */

import type { PagePose } from "../page/data.js";
import type { Answer, Arrays, Data, Link } from "./link.js";
import { REFUSED } from "./socket_link.js";

export interface SculptRow {
  name: string;
  /** The joints and controls that its pose moves. */
  moves: string[];
  /** Its largest correction, of the box's diagonal. */
  largest: number;
  radius: number | null;
  muted: boolean;
}

export interface ProjectInfo {
  name: string;
  path: string;
  /** Whether there is something to edit; why not is in `remedy`. */
  editable: boolean;
  remedy: string;
  method: string;
  vertices: number;
  /** Of the box around the rest shape, in metres. */
  diagonal: number;
  joints: string[];
  layers: string[];
  sculpts: SculptRow[];
  undo: string | null;
  redo: string | null;
  /** The clips that are takes of markers. */
  takes: string[];
  /** The radii that hold for all sculpts, by joint, control or layer. */
  radii: Record<string, number>;
  notes: string[];
  draft: { name: string } | null;
  revision: number;
}

/** What is said of a request that takes longer than so many milliseconds. */
const [WORKING, PATIENCE] = ["working…", 300];

const ANEW = "the studio was started anew, or too many pages are open: open the address that it printed";

export class Project {
  info: ProjectInfo | null = null;
  /** What was done last, or why it could not be. */
  said = "";
  connected = false;
  private wanted = "";
  private readonly listeners = new Set<() => void>();

  constructor(readonly link: Link) {
    link.on("project", (info) => {
      this.info = info as unknown as ProjectInfo;
      this.notify();
    });
    link.on("connected", () => this.connect());
    link.on("disconnected", ({ code }) => this.disconnect(code === REFUSED));
  }

  /** Whether this page may change the project now. */
  get mayEdit(): boolean {
    return this.connected && this.link.editor && this.info?.editable === true;
  }

  /** The name of the sculpt that is looked at, wherever the pose is now; empty: none is. */
  get chosen(): string {
    return this.info?.sculpts.some(({ name }) => name === this.wanted) ? this.wanted : "";
  }

  set chosen(name: string) {
    this.wanted = name;
    this.notify();
  }

  /** Call something whenever the project has changed; returns what ends it. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Ask for something, and say what came of it. */
  async do(what: string, data: Data = {}, arrays: Arrays = {}): Promise<Answer | null> {
    const slow = window.setTimeout(() => this.say(WORKING), PATIENCE);
    try {
      const answer = await this.link.request(what, data, arrays);
      if (typeof answer.ok.did === "string") this.say(answer.ok.did);
      else if (this.said === WORKING) this.say("");
      return answer;
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error));
      return null;
    } finally {
      window.clearTimeout(slow);
    }
  }

  /** The pose of a sculpt. */
  async poseOf(name: string): Promise<PagePose | null> {
    const answer = await this.do("pose_of", { name });
    return answer && { ...(answer.ok.pose as Omit<PagePose, "name">), name };
  }

  /** Show a line. */
  say(words: string): void {
    this.said = words;
    this.notify();
  }

  private connect(): void {
    this.connected = true;
    this.say("");
  }

  private disconnect(refused: boolean): void {
    this.connected = false;
    this.say(refused ? ANEW : "the studio has ended or is busy; the page connects again by itself if it is back");
  }

  /** Tell tools that something has changed. */
  notify(): void {
    for (const listener of this.listeners) listener();
  }
}
