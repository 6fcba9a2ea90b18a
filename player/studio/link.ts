/** What the studio's page asks of its server; docs/studio-protocol.md says what each request and event holds. */

/** Numbers by name, in row order: points (N, 3), triangles (T, 3), the bytes of a file. */
export type Arrays = Record<string, Float32Array | Int32Array | Uint8Array>;

/** What a request is answered with. */
export interface Answer {
  ok: Record<string, unknown>;
  arrays: Arrays;
}

/** The words and numbers of an event or a request. */
export type Data = Record<string, unknown>;

export interface Link {
  /** Whether this page may change the project; false: another one does, and this one looks on. */
  readonly editor: boolean;
  /** Ask for something; fails with one line to show. */
  request(what: string, data?: Data, arrays?: Arrays): Promise<Answer>;
  /** Hear of an event; returns what ends that. */
  on(event: string, listener: (data: Data, arrays: Arrays) => void): () => void;
}
