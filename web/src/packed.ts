// Embedded data: elements with Base64 text of gzip bytes. The answer and its timeline precede the script; the
// rest follows it.

// Resolves when the elements after the script are parsed.
export const wholeFile = new Promise<void>((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", () => done(), { once: true });
});

const textOf = (id: string): string => document.getElementById(id)?.textContent ?? "";
export const holds = (id: string): boolean => (document.getElementById(id)?.firstChild as Text | null)?.length ? true : false;

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const fromBase64 = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
  if (fromBase64) return fromBase64.call(Uint8Array, text);
  const latin = atob(text);
  const bytes = new Uint8Array(latin.length); // Uint8Array.from() takes ten times as long
  for (let i = 0; i < latin.length; i++) bytes[i] = latin.charCodeAt(i);
  return bytes;
}

function unpacked(id: string): Response {
  return new Response(new Blob([bytesOf(textOf(id))]).stream().pipeThrough(new DecompressionStream("gzip")));
}
export const unpackText = (id: string): Promise<string> => unpacked(id).text();

// Empty if the file has no such element.
export async function unpackBytes(id: string): Promise<Uint8Array> {
  return holds(id) ? new Uint8Array(await unpacked(id).arrayBuffer()) : new Uint8Array();
}
