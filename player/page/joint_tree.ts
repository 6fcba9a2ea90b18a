/** The joints as a tree: which are above and below which, and which rows of the tree are seen. */

export class JointTree {
  /** The joint above each, or -1. */
  readonly parents: readonly number[];
  readonly children: readonly number[][];
  /** The joints, each above its children, as rows of a tree. */
  readonly order: readonly number[];
  /** How many joints are above each. */
  readonly depths: readonly number[];

  /** Parameters: the name of each joint, and the joint above it, or -1; of joints in a ring, one becomes a root. */
  constructor(
    readonly names: readonly string[],
    parents: readonly number[],
  ) {
    this.parents = withoutRings(parents);
    this.children = names.map(() => []);
    this.parents.forEach((parent, joint) => {
      this.children[parent]?.push(joint);
    });
    const depths = names.map(() => 0);
    const order: number[] = [];
    const waiting = names.map((_, joint) => joint).filter((joint) => this.parents[joint] < 0);
    waiting.reverse();
    for (let joint = waiting.pop(); joint !== undefined; joint = waiting.pop()) {
      order.push(joint);
      for (const child of [...this.children[joint]].reverse()) {
        depths[child] = depths[joint] + 1;
        waiting.push(child);
      }
    }
    [this.order, this.depths] = [order, depths];
  }

  /** The joints above one, nearest first. */
  above(joint: number): number[] {
    const above: number[] = [];
    for (let parent = this.parents[joint]; parent >= 0; parent = this.parents[parent]) above.push(parent);
    return above;
  }

  /** The joints below one, at any depth. */
  below(joint: number): number[] {
    const start = this.order.indexOf(joint) + 1;
    let end = start;
    while (end < this.order.length && this.depths[this.order[end]] > this.depths[joint]) end++;
    return this.order.slice(start, end);
  }

  /**
   * The rows that are seen, in order: those below no folded joint; with words to search for, those whose names hold
   * them in upper or lower case, and what is above these.
   */
  rows(folded: ReadonlySet<number>, search: string): number[] {
    const words = search.trim().toLowerCase();
    if (!words) return this.order.filter((joint) => !this.above(joint).some((parent) => folded.has(parent)));
    const matches = this.matches(words);
    const kept = new Set(matches.flatMap((joint) => [joint, ...this.above(joint)]));
    return this.order.filter((joint) => kept.has(joint));
  }

  /** The joints whose names hold some words in upper or lower case, in the order of the rows. */
  matches(search: string): number[] {
    const words = search.trim().toLowerCase();
    return this.order.filter((joint) => this.names[joint].toLowerCase().includes(words));
  }

  /**
   * A joint and those above it, nearest first, that follow where it is pulled: so many; with 0, those up to the next
   * joint at which the skeleton branches.
   */
  chain(joint: number, length: number): number[] {
    const above = this.above(joint);
    if (length > 0) return [joint, ...above.slice(0, length - 1)];
    const branching = above.findIndex((parent) => this.children[parent].length > 1);
    return [joint, ...(branching < 0 ? above : above.slice(0, branching))];
  }
}

/** Files are hostile: joints may be linked in a ring. */
function withoutRings(parents: readonly number[]): number[] {
  const sound = [...parents];
  const walks = parents.map(() => -1);
  parents.forEach((_, start) => {
    for (let joint = start; joint >= 0 && walks[joint] < 0; joint = sound[joint]) {
      walks[joint] = start;
      if (walks[sound[joint]] === start) sound[joint] = -1;
    }
  });
  return sound;
}
