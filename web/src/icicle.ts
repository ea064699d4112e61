// A tree as an icicle plot: a node is as wide as its share, above its children. Click or Enter zooms in,
// Escape or Backspace zooms out, the arrow keys move.

import { announce, button, freshId, h } from "./dom.ts";
import { shortenMiddle } from "./text.ts";
import { color, onTheme } from "./theme.ts";
import { formatValue, numberOf } from "./units.ts";
import type { Column, Tree } from "./view.ts";

const ROW = 24;
const MAX_ROWS = 16;
const THINNEST = 1.5; // pixels; a narrower node is drawn as part of its parent
const GAP = 1;

interface Node {
  row: number;
  depth: number;
  parent: number;
  area: number;
  start: number; // in units of area, from the left
  children: number[];
}

function nodesOf(tree: Tree, areas: Column): Node[] {
  const nodes: Node[] = [];
  const path: number[] = [];
  const used: number[] = []; // area already taken by the children of a node
  let rootsEnd = 0;
  tree.labels.forEach((_, row) => {
    const depth = tree.depths[row]!;
    path.length = depth;
    const parent = depth > 0 ? (path[depth - 1] ?? -1) : -1;
    const area = Math.max(0, numberOf(areas.cells[row]) ?? 0);
    const before = parent >= 0 ? nodes[parent]! : null;
    const start = before ? before.start + used[parent]! : rootsEnd;
    if (!before) {
      rootsEnd += area;
    } else {
      used[parent]! += area;
      before.children.push(row);
    }
    nodes.push({ row, depth, parent, area, start, children: [] });
    used.push(0);
    path[depth] = row;
  });
  return nodes;
}

export function icicleElement(tree: Tree): HTMLElement | null {
  const areas = tree.columns.find((c) => c.key === tree.area_key);
  if (!areas) return null;
  const nodes = nodesOf(tree, areas);
  const roots = nodes.filter((n) => n.parent < 0);
  const total = roots.reduce((sum, n) => sum + n.area, 0);
  if (total <= 0) return null;
  return new Icicle(tree, areas, nodes, total).element;
}

class Icicle {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly crumbs: HTMLElement;
  private readonly about: HTMLElement;
  private zoomed = -1; // row; -1: the whole tree
  private focus = 0;
  private hover = -1;
  private readonly deepest: number;
  private boxes: { row: number; x: number; y: number; width: number }[] = [];

  constructor(
    private readonly tree: Tree,
    private readonly areas: Column,
    private readonly nodes: Node[],
    private readonly total: number,
  ) {
    this.deepest = Math.max(...nodes.map((n) => n.depth));
    const titleId = freshId("icicle");
    this.canvas = h("canvas", {
      class: "icicle",
      attributes: {
        tabindex: "0",
        role: "application",
        "aria-roledescription": "icicle chart",
        "aria-labelledby": titleId,
      },
    });
    this.crumbs = h("nav", { class: "crumbs", attributes: { "aria-label": "Where the chart is zoomed to" } });
    this.about = h("p", { class: "icicle-about" });
    this.element = h(
      "figure",
      { class: "chart" },
      h("div", { class: "grid-head" }, h("h4", { id: titleId }, `${tree.title || "Tree"}, as areas`)),
      this.crumbs,
      this.canvas,
      this.about,
    );
    this.canvas.addEventListener("click", (event) => this.enter(this.at(event)));
    this.canvas.addEventListener("pointermove", (event) => this.point(this.at(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(-1));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("focus", () => this.say(this.focus));
    this.canvas.addEventListener("blur", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    onTheme(() => this.draw());
    this.sayHint();
    this.drawCrumbs();
  }

  private labelOf(row: number): string {
    return this.tree.labels[row] ?? "";
  }

  private describeNode(row: number): string {
    const node = this.nodes[row]!;
    const parts = [`${shortenMiddle(this.labelOf(row), 120)}: ${formatValue(node.area, this.areas.unit, true)}`];
    parts.push(`${formatValue(node.area / this.total, "share", false)} of all`);
    if (node.parent >= 0 && this.nodes[node.parent]!.area > 0) {
      parts.push(`${formatValue(node.area / this.nodes[node.parent]!.area, "share", false)} of its parent`);
    }
    return parts.join(", ");
  }

  private sayHint(): void {
    this.about.textContent = "Width is time. Click or Enter goes into a part, Escape comes back, arrow keys walk.";
  }

  private say(row: number): void {
    if (row < 0) {
      this.sayHint();
    } else {
      this.about.textContent = this.describeNode(row);
    }
    this.draw();
  }

  private point(row: number): void {
    if (row === this.hover) return;
    this.hover = row;
    this.canvas.style.cursor = row >= 0 ? "pointer" : "";
    this.say(row >= 0 ? row : document.activeElement === this.canvas ? this.focus : -1);
  }

  private at(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left;
    const y = event.clientY - box.top;
    return this.boxes.find((b) => x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + ROW)?.row ?? -1;
  }

  private enter(row: number): void {
    if (row < 0) return;
    const next = row === this.zoomed ? this.nodes[row]!.parent : row;
    this.zoomTo(next, row);
  }

  private zoomTo(row: number, focus: number): void {
    this.zoomed = row;
    this.focus = Math.max(0, focus);
    this.drawCrumbs();
    this.say(this.focus);
    announce(row < 0 ? "Everything" : this.describeNode(row));
  }

  private siblings(row: number): number[] {
    const parent = this.nodes[row]!.parent;
    return parent >= 0 ? this.nodes[parent]!.children : this.nodes.filter((n) => n.parent < 0).map((n) => n.row);
  }

  private key(event: KeyboardEvent): void {
    const node = this.nodes[this.focus]!;
    const siblings = this.siblings(this.focus);
    const place = siblings.indexOf(this.focus);
    const biggest = (rows: number[]) => rows.reduce((best, row) => (this.nodes[row]!.area > this.nodes[best]!.area ? row : best), rows[0]!);
    const moves: Record<string, () => number | undefined> = {
      ArrowRight: () => siblings[place + 1],
      ArrowLeft: () => siblings[place - 1],
      ArrowDown: () => (node.children.length > 0 ? biggest(node.children) : undefined),
      ArrowUp: () => (node.parent >= 0 ? node.parent : undefined),
      Home: () => siblings[0],
      End: () => siblings[siblings.length - 1],
    };
    const move = moves[event.key];
    if (move) {
      const to = move();
      event.preventDefault();
      if (to === undefined) return;
      this.focus = to;
      if (!this.inZoom(to)) this.zoomed = this.nodes[to]!.parent;
      this.drawCrumbs();
      this.say(to);
      announce(this.describeNode(to));
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.enter(this.focus);
    } else if ((event.key === "Escape" || event.key === "Backspace") && this.zoomed >= 0) {
      event.preventDefault();
      this.zoomTo(this.nodes[this.zoomed]!.parent, this.zoomed);
    }
  }

  private inZoom(row: number): boolean {
    for (let at = row; at >= 0; at = this.nodes[at]!.parent) {
      if (at === this.zoomed) return true;
    }
    return this.zoomed < 0;
  }

  private drawCrumbs(): void {
    const path: number[] = [];
    for (let row = this.zoomed; row >= 0; row = this.nodes[row]!.parent) path.unshift(row);
    const parts: Node[] = path.map((row) => this.nodes[row]!);
    this.crumbs.replaceChildren(
      button("All", () => this.zoomTo(-1, 0), { class: "crumb" }),
      ...parts.map((node) => button(shortenMiddle(this.labelOf(node.row), 40), () => this.zoomTo(node.row, node.row), { class: "crumb" })),
    );
    this.crumbs.hidden = path.length === 0;
  }

  private draw(): void {
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    const top = this.zoomed < 0 ? null : this.nodes[this.zoomed]!;
    const above: Node[] = [];
    for (let node = top; node; node = node.parent >= 0 ? this.nodes[node.parent]! : null) above.unshift(node);
    const base = top ? top.depth : 0;
    const rows = Math.min(MAX_ROWS, this.deepest - base + 1 + (above.length - (top ? 1 : 0)));
    const height = rows * ROW + 2;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    const context = this.canvas.getContext("2d")!;
    context.scale(ratio, ratio);
    context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = "middle";
    this.boxes = [];
    const from = top ? top.start : 0;
    const span = top ? top.area : this.total;
    above.slice(0, -1).forEach((node, i) => this.box(context, node, 0, width, i * ROW));
    const shift = Math.max(0, above.length - 1);
    const visit = (row: number) => {
      const node = this.nodes[row]!;
      const x = ((node.start - from) / span) * width;
      const w = (node.area / span) * width;
      const y = (node.depth - base + shift) * ROW;
      if (w < THINNEST || y >= height) return;
      this.box(context, node, x, w, y);
      node.children.forEach(visit);
    };
    if (top) visit(top.row);
    else this.nodes.filter((n) => n.parent < 0).forEach((n) => visit(n.row));
  }

  private box(context: CanvasRenderingContext2D, node: Node, x: number, width: number, y: number): void {
    this.boxes.push({ row: node.row, x, y, width });
    const active = node.row === this.hover || (node.row === this.focus && document.activeElement === this.canvas);
    context.fillStyle = active ? color("icicle-active") : color(`icicle-${node.depth % 4}`);
    const w = Math.max(1, width - GAP);
    context.fillRect(x, y, w, ROW - GAP);
    if (active) {
      context.strokeStyle = color("accent");
      context.lineWidth = 2;
      context.strokeRect(x + 1, y + 1, Math.max(0, w - 2), ROW - GAP - 2);
    }
    if (width < 30) return;
    context.fillStyle = color("ink");
    const room = Math.floor((width - 10) / 6.4);
    const share = formatValue(node.area / this.total, "share", false);
    const label = this.labelOf(node.row);
    const text = room > label.length + share.length + 3 ? `${label}  ${share}` : shortenMiddle(label, Math.max(2, room));
    context.save();
    context.beginPath();
    context.rect(x, y, w - 3, ROW);
    context.clip();
    context.fillText(text, x + 5, y + ROW / 2);
    context.restore();
  }
}
