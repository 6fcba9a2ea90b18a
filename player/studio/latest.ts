/** Does one thing at a time: of what is wanted meanwhile, only the last is done afterwards. */

export class Latest<T> {
  private next: { what: T } | null = null;
  private doing: Promise<void> | null = null;

  constructor(private readonly work: (what: T) => Promise<void>) {}

  want(what: T): void {
    this.next = { what };
    this.doing ??= this.run();
  }

  /** Wait until all that was wanted is done. */
  async done(): Promise<void> {
    await this.doing;
  }

  private async run(): Promise<void> {
    while (this.next) {
      const { what } = this.next;
      this.next = null;
      await this.work(what);
    }
    this.doing = null;
  }
}
