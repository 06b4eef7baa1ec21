import { formatPath } from "@herdctl/protocol";
import { isScalar, isSeq, LineCounter, parseDocument, visit } from "yaml";
import type { ImportFinding } from "./findings.ts";
import { renderDocument } from "./translate-document.ts";

/** Forms of keys and tokens of well-known services. */
const secretForms = [
  /\bsk-ant-[\w-]{16,}/,
  /\bsk-[A-Za-z0-9]{32,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_\w{20,}/,
  /\bglpat-[\w-]{16,}/,
  /\bxox[abprs]-[\w-]{10,}/,
  /\bxapp-[\w-]{10,}/,
  /\bAKIA[A-Z0-9]{16}\b/,
  /\b[MNO][A-Za-z0-9_-]{23,}\.[\w-]{6}\.[\w-]{27,}/,
];
/** The text after one of these words is a secret, whatever its form. */
const bearer = /(?<=^(?:Bearer|Basic|token) )[^\s$]{8,}$/i;
const secretKey = /(api_?key|token|secret|password)$/i;

interface PlainSecrets {
  text: string;
  findings: ImportFinding[];
  variables: Record<string, string>;
}

/** Replaces secrets that are written in a file by variables. */
export function replacePlainSecrets(
  file: string,
  text: string,
  takenNames: readonly string[],
): PlainSecrets {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const findings: ImportFinding[] = [];
  const variables: Record<string, string> = {};
  visit(document, {
    Scalar: (position, node, ancestors) => {
      if (position === "key" || typeof node.value !== "string") return;
      const path = pathOf(ancestors);
      const key = String(path.at(-1) ?? "");
      const secret = findSecret(key, node.value);
      if (secret === undefined) return;
      const name = chooseName(path, [...takenNames, ...Object.keys(variables)]);
      variables[name] = secret;
      node.value = node.value.replace(secret, () => `\${${name}}`);
      const { line, col } = lines.linePos(node.range?.[0] ?? 0);
      const message = `a secret was written in the file; it is in \`.env\` as ${name} now`;
      findings.push({ file, line, column: col, kind: "moved", path: formatPath(path), message });
    },
  });
  if (findings.length === 0) return { text, findings, variables };
  return { text: renderDocument(document, text), findings, variables };
}

function findSecret(key: string, value: string): string | undefined {
  for (const form of [...secretForms, bearer]) {
    const found = form.exec(value)?.[0];
    if (found !== undefined) return found;
  }
  const isNamed = secretKey.test(key) && !/_env$/i.test(key);
  return isNamed && /^[\w+/=.-]{16,}$/.test(value) ? value : undefined;
}

/** The keys that lead to a node. */
function pathOf(ancestors: readonly unknown[]): (string | number)[] {
  return ancestors.flatMap((node, index): (string | number)[] => {
    if (typeof node === "object" && node !== null && "key" in node && isScalar(node.key))
      return [String(node.key.value)];
    const next = ancestors[index + 1];
    if (isSeq(node) && next !== undefined) return [node.items.indexOf(next)];
    return [];
  });
}

/** `mcp_servers.docs.headers.Authorization` becomes `DOCS_AUTHORIZATION`. */
function chooseName(path: readonly (string | number)[], taken: readonly string[]): string {
  const skipped = [
    "mcp_servers",
    "headers",
    "env",
    "hooks",
    "chat",
    "docker",
    "agents",
    "defaults",
  ];
  const words = path.filter((part) => typeof part === "string" && !skipped.includes(part));
  const text = words.slice(-2).join("_") || "secret";
  const base = text.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();
  const start = /^\d/.test(base) ? `SECRET_${base}` : base;
  for (let count = 1; ; count++) {
    const name = count === 1 ? start : `${start}_${count}`;
    if (!taken.includes(name)) return name;
  }
}
