// Prints the colours of the page for the errors 0, 1/255, ... 1, as JSON.
import { join } from "node:path";
import { load } from "./bundle.mjs";

const { heatColour } = await load(join(import.meta.dirname, "..", "page", "heat_colours.ts"));
console.log(JSON.stringify(Array.from({ length: 256 }, (_, k) => heatColour(k / 255))));
