// All elements are made here. Text from a trace is hostile: it only becomes a text node, never markup or an
// attribute that the browser interprets.

export type Child = Node | string | null | undefined | false;

interface Properties {
  class?: string;
  id?: string;
  attributes?: Record<string, string>;
  on?: Partial<{ [name in keyof HTMLElementEventMap]: (event: HTMLElementEventMap[name]) => void }>;
}

export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (properties.class) element.className = properties.class;
  if (properties.id) element.id = properties.id;
  for (const [key, value] of Object.entries(properties.attributes ?? {})) {
    element.setAttribute(key, value);
  }
  for (const [event, listener] of Object.entries(properties.on ?? {})) {
    element.addEventListener(event, listener as EventListener);
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }
}

export function button(
  label: string,
  action: () => void,
  options: { class?: string; title?: string } = {},
): HTMLButtonElement {
  const element = h("button", { class: options.class ?? "tool", attributes: { type: "button" } }, label);
  if (options.title) element.title = options.title;
  element.addEventListener("click", action);
  return element;
}

let nextId = 0;
export function freshId(prefix: string): string {
  return `${prefix}-${++nextId}`;
}

// Announces text to screen readers without moving the focus.
let announcer: HTMLElement | null = null;
export function announce(text: string): void {
  if (!announcer) {
    announcer = h("div", { class: "unseen", attributes: { "aria-live": "polite" } });
    document.body.appendChild(announcer);
  }
  announcer.textContent = text;
}

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The clipboard API may be unavailable on pages opened from disk; execCommand is not.
    const area = h("textarea", { class: "unseen" });
    area.value = text;
    document.body.appendChild(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function saveFile(name: string, type: string, bytes: BlobPart): void {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  const link = h("a", { attributes: { href: address, download: name } });
  document.body.appendChild(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
