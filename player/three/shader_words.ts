/**
 * What three.js copies from a file into the text of its shaders: names of materials, and numbers of texture coordinates.
 * A line end in either would make code of what follows, so both are cleaned before anything is made of them.
 */

type Json = Record<string, unknown>;

/** Longer words are an error in some compilers. */
const MOST_LETTERS = 256;

/** What ends or continues a line of a shader, or opens a comment that nothing closes. */
const UNSAFE = /[\p{Cc}\u2028\u2029\\]|\/\*/gu;

/** A name that may stand in a line of a shader; ordinary names stay as they are. */
export function shaderName(name: unknown): string {
  return String(name).replace(UNSAFE, "_").slice(0, MOST_LETTERS);
}

/** Clean the materials of a file's JSON in place. */
export function cleanMaterials(materials: unknown): void {
  if (!Array.isArray(materials)) return;
  for (const material of materials.filter(isObject)) {
    if (material.name !== undefined) material.name = shaderName(material.name);
  }
  // A list of what is still to be looked at, not recursion: a hostile file may be nested deeper than the call stack.
  const waiting: unknown[] = [...materials];
  while (waiting.length) {
    const part = waiting.pop();
    if (!isObject(part)) continue;
    if (part.texCoord !== undefined && !isSet(part.texCoord)) delete part.texCoord;
    for (const value of Object.values(part)) waiting.push(value);
  }
}

function isSet(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}
