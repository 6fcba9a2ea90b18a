/** Parts of small drawings in SVG. */

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with attributes; a text is set as text. */
export function shape<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number>,
  text = "",
): SVGElementTagNameMap[K] {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, typeof value === "number" ? `${Number(value.toFixed(2))}` : value);
  }
  if (text) node.textContent = text;
  return node;
}

/** A drawing of a size, with words for those who cannot see it. */
export function drawing(width: number, height: number, words: string, name: string): SVGSVGElement {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, class: name, role: "img", "aria-label": words });
}

/** A name on a drawing that shows when the pointer rests on a part. */
export function named<T extends SVGElement>(part: T, words: string): T {
  part.append(shape("title", {}, words));
  return part;
}
