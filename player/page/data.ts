/** What the page was written with: the skin as a GLB file, poses to show, and how far skins are from the truth there. */

export interface PagePose {
  name: string;
  /** Per joint x y z w, then per joint the translation: seven numbers each. */
  joints: number[];
  controls: Record<string, number>;
}

export interface PageData {
  title: string;
  /** The file, compressed by gzip, in base 64. */
  glb: string;
  poses: PagePose[];
  heat: PageErrors | null;
}

/** Errors at the poses, if the truth was given. */
export interface PageErrors {
  /** What a byte of 255 stands for, and its unit. */
  largest: number;
  unit: string;
  /** Bytes per pose and vertex, of the skin and of plain skinning. */
  skin: string;
  plain: string;
  /** Per pose the root mean square of the skin's errors, and that over the one of plain skinning. */
  rms: number[];
  ratios: number[];
}

/** Read the data of the page. */
export function readData(): PageData {
  const text = document.getElementById("data")?.textContent ?? "";
  return JSON.parse(text) as PageData;
}

/** The bytes of a text in base 64. */
export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  // `Uint8Array.from` takes a second for a large page.
  for (let k = 0; k < bytes.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

/** The bytes that gzip compressed. */
export async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
