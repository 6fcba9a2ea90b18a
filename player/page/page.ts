/** The page: a skin to turn, move and compare, in one file that needs no server and no network. */

import { bytesOf, readData, unzipped } from "./data.js";
import type { PageData } from "./data.js";
import { button, choice, element, menu, slider, tick } from "./elements.js";
import type { Menu } from "./elements.js";
import { Heat, isWorse } from "./heat.js";
import { JointSliders } from "./joints.js";
import { Stage, VIEWS } from "./stage.js";
import type { View } from "./stage.js";

const UNKNOWN = "Errors are known only at the listed poses: choose one to see them.";
const PLAYED =
  "Control points move this skin. They cannot be dragged here: the page plays the clips that it was exported with.";
const STILL =
  "Control points move this skin. They cannot be dragged here, and the page was exported without a motion, so it shows " +
  "the rest shape. To see it move, export it with one, as a page or as glTF for other programs:";
const WITH_MOTION = "posespace export SKIN -o OUT.glb \\\n  --motion FILE";

class Page {
  private readonly panel = document.getElementById("panel") as HTMLElement;
  private playing = true;
  private pose = -1;
  private heat: Heat | null = null;
  private joints: JointSliders | null = null;
  private readonly views = choice(VIEWS, "skin", (view) => this.look(view));
  private readonly wire = tick("wireframe", (on) => (this.stage.wireframe = on));
  private readonly warm = tick("error as colour", () => this.colour());
  private readonly legend = element("p", "legend");
  private readonly poses: Menu;
  private readonly clips: Menu;
  private readonly pause = button("play or pause", "space", () => (this.playing = !this.playing));
  private readonly scrub = slider("time", 0, 1, 0.01, 0, (seconds) => this.go(seconds), " s");

  constructor(
    private readonly data: PageData,
    private readonly stage: Stage,
  ) {
    this.clips = menu("no clip", stage.clips.map((clip) => clip.name), (index) => this.playClip(index));
    const named = data.poses.map(({ name }, k) => (isWorse(data.heat?.ratios[k]) ? `${name} (worse than plain)` : name));
    this.poses = menu("at rest", named, (index) => this.strike(index));
    this.build();
    this.listen();
    this.colour();
    if (stage.clips.length) this.playClip(0);
    this.start();
  }

  private build(): void {
    const { stage, data } = this;
    const skin = data.points ? undefined : stage.skins[0];
    this.panel.append(element("h1", "", data.title));
    if (!data.points) this.panel.append(this.views.row);
    else if (stage.clips.length) this.panel.append(element("p", "points", PLAYED));
    else this.panel.append(element("p", "points", STILL), element("code", "", WITH_MOTION));
    if (stage.clips.length) {
      const row = element("div", "row");
      row.append(this.clips.list, this.pause);
      this.panel.append(row, this.scrub.row);
    }
    if (data.poses.length) this.panel.append(this.poses.list);
    if (skin) {
      const most = Math.max(0, ...skin.description.componentOf) + 1;
      const components = slider("components", 0, most, 1, most, (count) => (skin.components = count));
      this.panel.append(components.row);
    }
    this.panel.append(this.wire.row);
    if (data.heat) {
      this.heat = new Heat(stage, data.heat);
      this.panel.append(this.warm.row, this.legend);
    }
    const row = element("div", "row");
    row.append(
      button("rest", "r", () => this.rest()),
      button("frame", "f", () => stage.frame()),
      button("picture", "s", () => this.picture()),
    );
    this.panel.append(row);
    if (skin) {
      this.joints = new JointSliders(stage, skin, () => this.byHand());
      this.panel.append(this.joints.panel);
    }
    this.panel.append(element("p", "keys", this.keys()));
  }

  private keys(): string {
    const { stage, data } = this;
    const some = [data.points ? "" : "1 to 4 view", stage.clips.length ? "space play" : "", data.heat ? "h heat" : ""];
    return [...some, "w wireframe", "r rest", "f frame", "s picture"].filter(Boolean).join(" · ");
  }

  private listen(): void {
    const keys: Record<string, () => void> = {
      " ": () => (this.playing = !this.playing),
      w: () => this.wire.input.click(),
      h: () => this.heat && this.warm.input.click(),
      r: () => this.rest(),
      f: () => this.stage.frame(),
      s: () => this.picture(),
    };
    if (!this.data.points) VIEWS.forEach((view, k) => (keys[`${k + 1}`] = () => this.look(view)));
    window.addEventListener("keydown", (event) => {
      const press = keys[event.key];
      const typing = event.target instanceof HTMLSelectElement || (event.target instanceof HTMLButtonElement && event.key === " ");
      if (!press || typing || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      press();
    });
    document.getElementById("fold")?.addEventListener("click", () => document.body.classList.toggle("folded"));
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const tint = () => (this.stage.background = dark.matches ? "#15171c" : "#f2f1ee");
    dark.addEventListener("change", tint);
    tint();
    new ResizeObserver(() => this.stage.resize()).observe(this.stage.renderer.domElement);
  }

  private look(view: View): void {
    this.stage.view = view;
    this.views.press(view);
    document.body.dataset.view = view;
    this.colour();
  }

  private playClip(index: number): void {
    this.rest();
    this.clips.chosen = index;
    const clip = this.stage.clips[index];
    if (!clip) return;
    this.playing = true;
    this.scrub.most = Math.round(100 * clip.duration) / 100;
    this.stage.play(clip);
    this.poses.say("in a clip");
  }

  private go(seconds: number): void {
    this.playing = false;
    this.stage.time = seconds;
    this.joints?.follow();
  }

  /** Take the pose of the list, or rest. */
  private strike(index: number): void {
    this.rest();
    const pose = this.data.poses[index];
    if (!pose) return;
    this.poses.chosen = this.pose = index;
    const joints = this.stage.rests.length;
    this.stage.rests.forEach(({ bone, place }, k) => {
      bone.quaternion.fromArray(pose.joints, 4 * k);
      bone.position.fromArray(pose.joints, 4 * joints + 3 * k).add(place);
    });
    for (const skin of this.stage.skins) Object.assign(skin.controls, pose.controls);
    this.joints?.follow();
    this.colour();
  }

  private rest(): void {
    this.stage.rest();
    this.poses.chosen = this.clips.chosen = this.pose = -1;
    this.joints?.follow();
    this.colour();
  }

  /** What is moved by hand is in no clip and at no known pose. */
  private byHand(): void {
    this.stage.hold();
    this.clips.chosen = this.pose = -1;
    this.poses.say("moved by hand");
    this.colour();
  }

  /** Colour the skin by its errors where they are asked for and known, and say what the colours are. */
  private colour(): void {
    const wanted = this.warm.input.checked;
    this.heat?.show(wanted ? this.pose : -1);
    this.legend.textContent = wanted && this.pose < 0 ? UNKNOWN : (this.heat?.legend(this.pose) ?? "");
  }

  private picture(): void {
    this.stage.draw();
    this.stage.renderer.domElement.toBlob((blob) => {
      if (!blob) return;
      const link = element("a");
      link.href = URL.createObjectURL(blob);
      link.download = `${this.data.title}.png`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  /** Show where a clip is, and its pose; without a clip there is no time. */
  private showTime(): void {
    const { time } = this.stage;
    this.pause.hidden = this.scrub.row.hidden = time === null;
    if (time === null) return;
    this.scrub.value = Math.round(100 * time) / 100;
    this.joints?.follow();
  }

  private start(): void {
    let last = performance.now();
    this.stage.renderer.setAnimationLoop((now: number) => {
      const seconds = Math.min(0.1, (now - last) / 1000);
      last = now;
      if (this.playing) this.stage.advance(seconds);
      this.showTime();
      this.stage.draw();
      if (!document.body.dataset.ready) performance.mark("first frame");
      document.body.dataset.ready = "yes";
    });
  }
}

async function main(): Promise<void> {
  const data = readData();
  document.title = data.title;
  const stage = new Stage(document.getElementById("stage") as HTMLCanvasElement);
  stage.resize();
  await stage.load(await unzipped(bytesOf(data.glb)));
  const page = new Page(data, stage);
  Object.assign(window, { posespace: { stage, page } });
}

main().catch((error: unknown) => {
  const words = error instanceof Error ? error.message : String(error);
  console.error(`posespace: the page cannot show its skin: ${words}`);
  document.getElementById("panel")?.append(element("p", "problem", `This browser cannot show the skin: ${words}`));
});
