/** What was before: a few states, the last of which can be had back. */

const MOST = 50;

export class History<T> {
  private readonly states: T[] = [];

  /** Keep a state; the oldest goes where there are too many. */
  push(state: T): void {
    this.states.push(state);
    if (this.states.length > MOST) this.states.shift();
  }

  /** Take the last state, if there is one. */
  pop(): T | undefined {
    return this.states.pop();
  }
}
