/** What the picture compares: sources such as plain skinning and the skin, two of them at a time. */

/** One way to show the surface. Tools add others, such as the shape that the skin was fitted to. */
export interface Source {
  /** What buttons call it; each has another name. */
  readonly name: string;
  /** What the picture calls it. */
  readonly label: string;
  /** Bring it into the scene, in the place of another. */
  show(): void;
  /** Take out of the scene what only it needs; another is shown next. */
  hide?(): void;
}

/** One source alone, two cut at a divider, or one with the edges of the other over it. */
export const MODES = ["single", "split", "overlay"] as const;
export type Mode = (typeof MODES)[number];

/** The divider stays this far from both ends of the picture, as a share of its width. */
const EDGE = 0.02;

export class Comparison {
  readonly sources: Source[] = [];
  private chosenMode: Mode = "single";
  private share = 0.5;
  private leftName: string;
  private rightName: string;
  private aloneName: string;

  /** Parameters: the names of the two sources that are compared usually, and what is called after each change. */
  constructor(
    private readonly usualLeft: string,
    private readonly usualRight: string,
    private readonly changed: () => void,
  ) {
    this.leftName = usualLeft;
    this.rightName = this.aloneName = usualRight;
  }

  get mode(): Mode {
    return this.chosenMode;
  }

  set mode(mode: Mode) {
    this.chosenMode = mode;
    this.changed();
  }

  /** What is on the left of the divider, and whose edges are drawn over the other. */
  get left(): Source {
    return this.named(this.leftName);
  }

  set left(source: Source) {
    this.leftName = source.name;
    this.changed();
  }

  /** What is on the right of the divider, and below the edges of the other. */
  get right(): Source {
    return this.named(this.rightName);
  }

  set right(source: Source) {
    this.rightName = source.name;
    this.changed();
  }

  /** What is shown where nothing is compared. */
  get alone(): Source {
    return this.named(this.aloneName);
  }

  /** Show a source and no other. */
  showAlone(source: Source): void {
    this.aloneName = source.name;
    this.mode = "single";
  }

  /** Where the divider is, as a share of the picture's width. */
  get divider(): number {
    return this.share;
  }

  set divider(share: number) {
    this.share = Math.min(1 - EDGE, Math.max(EDGE, share));
    this.changed();
  }

  /** Add a source; returns what takes it away, and leaves its place to the usual one. */
  add(source: Source): () => void {
    this.sources.push(source);
    this.changed();
    return () => {
      this.sources.splice(this.sources.indexOf(source), 1);
      if (this.leftName === source.name) this.leftName = this.usualLeft;
      if (this.rightName === source.name) this.rightName = this.usualRight;
      if (this.aloneName === source.name) this.aloneName = this.usualRight;
      this.changed();
    };
  }

  /** The source at a position of the picture, as a share of its width. */
  at(share: number): Source {
    if (this.mode === "single") return this.alone;
    return this.mode === "split" && share < this.share ? this.left : this.right;
  }

  /** The source of a name, or the first as long as that one is not added. */
  private named(name: string): Source {
    return this.sources.find((source) => source.name === name) ?? this.sources[0];
  }
}
