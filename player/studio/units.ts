/** How the page shows distances in a pose space. */

import type { UnitName } from "./influence.js";

export interface Unit {
  symbol: string;
  /** What is shown of a distance of 1. */
  factor: number;
}

export const UNITS: Record<UnitName, Unit> = {
  radians: { symbol: "°", factor: 180 / Math.PI },
  control: { symbol: "", factor: 1 },
  metres: { symbol: " m", factor: 1 },
  fraction: { symbol: " %", factor: 100 },
};

/** A distance in words. */
export function distanceWords(distance: number, { symbol, factor }: Unit): string {
  const shown = distance * factor;
  // Whole degrees and per cents; three digits of what may be small.
  return `${Math.abs(shown) >= 10 ? Math.round(shown) : Number(shown.toPrecision(2))}${symbol}`;
}
