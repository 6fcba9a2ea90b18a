/** Unsaved strokes on their way to the server: one at a time, and of those that wait only the latest. */

import type { PagePose } from "../page/data.js";
import type { Link } from "./link.js";

interface Draft {
  pose: PagePose;
  name: string;
  points: Float32Array | null;
}

export class Drafts {
  private waiting: Draft | null = null;
  private sending = false;

  constructor(
    private readonly link: Link,
    private readonly failed: (words: string) => void,
  ) {}

  /** Keep a shape (N, 3) that is not saved; null: there is none any more. */
  keep(pose: PagePose, name: string, points: Float32Array | null): void {
    this.waiting = { pose, name, points };
    if (!this.sending) void this.send();
  }

  /** Send no draft that waits: the shape has become a sculpt. */
  forget(): void {
    this.waiting = null;
  }

  private async send(): Promise<void> {
    this.sending = true;
    while (this.waiting) {
      const { pose, name, points } = this.waiting;
      this.waiting = null;
      try {
        await this.link.request("draft", { pose, name }, points ? { points } : undefined);
      } catch (error) {
        this.failed(`strokes are not kept: ${error instanceof Error ? error.message : error}`);
      }
    }
    this.sending = false;
  }
}
