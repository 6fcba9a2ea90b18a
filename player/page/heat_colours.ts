/** The colours of errors, the same as in the library's pictures and reports: both read one file of stops. */

import stops from "../../src/posespace/report/heat.json" with { type: "json" };

/** Colours in CSS, evenly spaced from no error to the largest. */
export const HEAT: readonly string[] = stops;

const CHANNELS = HEAT.map((colour) => [1, 3, 5].map((k) => Number.parseInt(colour.slice(k, k + 2), 16) / 255));

/** The colour of an error over the largest one, 0 to 1: red, green and blue in sRGB. */
export function heatColour(share: number): [number, number, number] {
  const position = Math.max(0, Math.min(1, share)) * (CHANNELS.length - 1);
  const k = Math.min(CHANNELS.length - 2, Math.floor(position));
  const mixed = (channel: number) =>
    CHANNELS[k][channel] + (position - k) * (CHANNELS[k + 1][channel] - CHANNELS[k][channel]);
  return [mixed(0), mixed(1), mixed(2)];
}
