/** Files that the browser saves. */

import { element } from "./elements.js";

/** Let the browser save a text or bytes under a name. */
export function download(content: string | Uint8Array<ArrayBuffer>, name: string, type: string): void {
  const anchor = element("a");
  anchor.href = URL.createObjectURL(new Blob([content], { type }));
  anchor.download = name;
  anchor.click();
  URL.revokeObjectURL(anchor.href);
}
