/** The joints as a tree that folds, with a field that finds them by name. */

import { element } from "../elements.js";
import type { Panel } from "../panel.js";
import type { Stage } from "../stage.js";
import type { Tool } from "../tool.js";

export class JointList implements Tool {
  private stage: Stage | null = null;
  private rows: HTMLElement[] = [];
  /** The rows that are seen, in order. */
  private seen: number[] = [];
  private selected = -1;
  private readonly folded = new Set<number>();
  private readonly list = element("ul", "joint-tree");
  private readonly search = element("input");
  private readonly none = element("p", "hint", "No joint has such a name.");

  mount(stage: Stage, panel: Panel): void {
    this.stage = stage;
    const { tree } = stage.joints;
    Object.assign(this.search, { type: "text", placeholder: `find one of ${tree.names.length} joints`, maxLength: 60 });
    this.search.setAttribute("aria-label", "find joints by name");
    this.search.addEventListener("input", () => this.show());
    this.search.addEventListener("keydown", (event) => this.pressInSearch(event));
    this.list.setAttribute("role", "tree");
    this.list.setAttribute("aria-label", "joints");
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.list.addEventListener("pointerleave", () => stage.joints.hover(-1));
    this.rows = tree.names.map((_, joint) => this.makeRow(stage, joint));
    this.list.append(...tree.order.map((joint) => this.rows[joint]));
    panel.append(this.search, this.list, this.none);
    this.show();
  }

  changed(): void {
    const joints = this.stage?.joints;
    if (!joints) return;
    if (joints.selected !== this.selected) this.select(joints.selected);
    this.rows.forEach((row, joint) => {
      row.classList.toggle("over", joint === joints.hovered);
    });
  }

  private makeRow({ joints }: Stage, joint: number): HTMLElement {
    const { names, depths, children } = joints.tree;
    const row = element("li");
    row.setAttribute("role", "treeitem");
    row.setAttribute("aria-level", `${depths[joint] + 1}`);
    row.setAttribute("aria-label", names[joint]);
    row.style.paddingLeft = `${4 + 12 * Math.min(12, depths[joint])}px`;
    const mark = element("span", "fold", children[joint].length ? "▾" : "");
    mark.addEventListener("click", (event) => {
      event.stopPropagation();
      this.fold(joint, !this.folded.has(joint));
    });
    row.append(mark, element("span", "", names[joint]));
    row.addEventListener("click", () => joints.select(joint));
    row.addEventListener("pointerenter", () => joints.hover(joint));
    return row;
  }

  private fold(joint: number, folded: boolean): void {
    if (!this.stage?.joints.tree.children[joint].length) return;
    if (folded) this.folded.add(joint);
    else this.folded.delete(joint);
    this.show();
  }

  /** Show the rows that are neither folded away nor filtered out. */
  private show(): void {
    const tree = this.stage?.joints.tree;
    if (!tree) return;
    this.seen = tree.rows(this.folded, this.search.value);
    const seen = new Set(this.seen);
    const matches = new Set(this.search.value.trim() ? tree.matches(this.search.value) : []);
    this.rows.forEach((row, joint) => {
      row.hidden = !seen.has(joint);
      row.classList.toggle("match", matches.has(joint));
      if (!tree.children[joint].length) return;
      const isFolded = this.folded.has(joint) && !this.search.value.trim();
      row.setAttribute("aria-expanded", `${!isFolded}`);
      row.firstElementChild?.classList.toggle("folded", isFolded);
    });
    this.none.hidden = this.seen.length > 0;
    this.letFocus();
  }

  /** Mark the row of a joint that was selected here or elsewhere, and bring it into sight. */
  private select(joint: number): void {
    this.selected = joint;
    const tree = this.stage?.joints.tree;
    const above = tree && joint >= 0 ? tree.above(joint) : [];
    for (const parent of above) this.folded.delete(parent);
    this.rows.forEach((row, number) => {
      row.setAttribute("aria-selected", `${number === joint}`);
    });
    this.show();
    const row = this.rows[joint];
    if (!row || row.hidden) return;
    // Not `scrollIntoView`, which scrolls the panel too.
    const { offsetTop, offsetHeight } = row;
    const { scrollTop, clientHeight } = this.list;
    if (offsetTop < scrollTop) this.list.scrollTop = offsetTop;
    if (offsetTop + offsetHeight > scrollTop + clientHeight) {
      this.list.scrollTop = offsetTop + offsetHeight - clientHeight;
    }
  }

  /** One row takes part when the user goes from field to field: the selected one, or the first. */
  private letFocus(): void {
    const current = this.seen.includes(this.selected) ? this.selected : this.seen[0];
    this.rows.forEach((row, joint) => {
      row.tabIndex = joint === current ? 0 : -1;
    });
  }

  private press(event: KeyboardEvent): void {
    const joint = this.rows.indexOf(event.target as HTMLElement);
    const tree = this.stage?.joints.tree;
    if (joint < 0 || !tree || event.ctrlKey || event.metaKey) return;
    const at = this.seen.indexOf(joint);
    const isOpen = tree.children[joint].length > 0 && !this.folded.has(joint);
    const acts: Record<string, () => void> = {
      ArrowDown: () => this.go(this.seen[at + 1]),
      ArrowUp: () => this.go(this.seen[at - 1]),
      ArrowRight: () => (isOpen ? this.go(tree.children[joint][0]) : this.fold(joint, false)),
      ArrowLeft: () => (isOpen ? this.fold(joint, true) : this.go(tree.parents[joint])),
      Home: () => this.go(this.seen[0]),
      End: () => this.go(this.seen[this.seen.length - 1]),
      Enter: () => this.go(joint),
      " ": () => this.go(joint),
    };
    if (!Object.hasOwn(acts, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    acts[event.key]();
  }

  /** From the field, down goes to the rows, and Enter selects the first joint that is found. */
  private pressInSearch(event: KeyboardEvent): void {
    const tree = this.stage?.joints.tree;
    const found = tree?.matches(this.search.value)[0];
    if (event.key === "Enter" && this.search.value.trim() && found !== undefined) this.stage?.joints.select(found);
    if (event.key === "ArrowDown") this.go(found);
    if (event.key === "Escape") {
      this.search.value = "";
      this.show();
    }
  }

  /** Select a joint, whose row gets the focus. */
  private go(joint: number | undefined): void {
    if (joint === undefined || joint < 0) return;
    this.stage?.joints.select(joint);
    this.rows[joint].focus({ preventScroll: true });
  }
}
