/** What was before, and what was undone: a few states that can be had back. */

const MOST = 50;

export class History<T> {
  private readonly before: T[] = [];
  private undone: T[] = [];

  /** Keep a state that is left for another; the oldest goes where there are too many. */
  push(state: T): void {
    this.before.push(state);
    if (this.before.length > MOST) this.before.shift();
    this.undone = [];
  }

  /** Take the state before the present one, if there is one; the present one can be had back by `redo`. */
  undo(present: T): T | undefined {
    return move(this.before, this.undone, present);
  }

  /** Take the state that was undone last, if there is one. */
  redo(present: T): T | undefined {
    return move(this.undone, this.before, present);
  }

  get canUndo(): boolean {
    return this.before.length > 0;
  }

  get canRedo(): boolean {
    return this.undone.length > 0;
  }
}

function move<T>(from: T[], to: T[], present: T): T | undefined {
  const state = from.pop();
  if (state !== undefined) to.push(present);
  return state;
}
