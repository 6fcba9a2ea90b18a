/** The link between the page and whoever holds the project: requests that are answered, and events. */

export type Arrays = Record<string, Float32Array | Int32Array | Uint8Array>;

export interface Answer {
  ok: Record<string, unknown>;
  arrays: Arrays;
}

export type Listener = (data: Record<string, unknown>, arrays: Arrays) => void;

export interface Link {
  /** Whether this page may change the project: of several pages, the first may. */
  readonly editor: boolean;
  /** Ask for something; rejects with one line if it cannot be done. */
  request(what: string, data?: object, arrays?: Arrays): Promise<Answer>;
  /** Listen to an event; returns what ends it. */
  on(event: string, listener: Listener): () => void;
}
