export type Key =
  | { name: "up" | "down" | "pageup" | "pagedown" | "home" | "end" | "enter" | "back" | "quit" }
  | { name: "letter"; letter: string };

const keyNames: Record<string, Exclude<Key["name"], "letter">> = {
  "\x1b[A": "up",
  "\x1bOA": "up",
  k: "up",
  "\x1b[B": "down",
  "\x1bOB": "down",
  j: "down",
  "\x1b[5~": "pageup",
  "\x1b[6~": "pagedown",
  " ": "pagedown",
  "\x1b[H": "home",
  g: "home",
  "\x1b[F": "end",
  G: "end",
  "\r": "enter",
  "\n": "enter",
  "\x1b": "back",
  "\x7f": "back",
  q: "back",
  "\x03": "quit",
};

/** Parses input, which may contain several keys, each of one or more characters. */
export function parseKeys(typed: string): Key[] {
  const parts = typed.match(/\x1b\[[\d;]*[A-Za-z~]|\x1bO[A-Z]|[\s\S]/g) ?? [];
  return parts.flatMap((part): Key[] => {
    const name = keyNames[part];
    if (name) return [{ name }];
    return /^[a-z\d]$/.test(part) ? [{ name: "letter", letter: part }] : [];
  });
}
