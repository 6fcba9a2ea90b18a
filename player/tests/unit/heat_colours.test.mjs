import assert from "node:assert/strict";
import { test } from "node:test";
import { HEAT, heatColour } from "../../page/heat_colours.ts";

const css = (colour) =>
  `#${colour
    .map((channel) =>
      Math.round(255 * channel)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;

test("the colours go from the first stop to the last, and no further", () => {
  for (const share of [0, -1]) assert.equal(css(heatColour(share)), HEAT[0]);
  for (const share of [1, 2]) assert.equal(css(heatColour(share)), HEAT.at(-1));
  assert.equal(css(heatColour(1 / (HEAT.length - 1))), HEAT[1]);
});
