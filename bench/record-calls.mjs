// Preloaded with `--import`: runs the packages from their source and records which function was
// called when. Written when the process exits, to a file in HERDCTL_CALLS_DIR.
import { readFileSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import ts from "typescript";

const root = resolve(import.meta.dirname, "..");
const { HERDCTL_CALLS_DIR: callsDir, HERDCTL_CALLS_NODE: wrapper } = process.env;
/** Calls of the same function within this time are recorded once. */
const repeatMs = 5;

const { compilerOptions } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
const sources = new Map(
  Object.entries(compilerOptions.paths).map(([name, [file]]) => [name, toUrl(join(root, file))]),
);
const runnerSource = toUrl(join(root, "packages/core/src/runner/process/main.ts"));

const functions = [];
const calls = [];
const lastCalledAt = [];
globalThis.__recordCall = (index) => {
  const now = performance.timeOrigin + performance.now();
  if (now - (lastCalledAt[index] ?? 0) >= repeatMs) calls.push([now, index]);
  lastCalledAt[index] = now;
};

registerHooks({
  resolve(specifier, context, next) {
    if (specifier.endsWith("core/dist/runner/process/main.mjs"))
      return { url: runnerSource, shortCircuit: true };
    const source = sources.get(specifier);
    return source ? { url: source, shortCircuit: true } : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context);
    const path = fileURLToPath(url);
    const { outputText } = ts.transpileModule(readFileSync(path, "utf8"), {
      fileName: path,
      compilerOptions: {
        target: ts.ScriptTarget.ES2024,
        module: ts.ModuleKind.ESNext,
        verbatimModuleSyntax: true,
      },
      transformers: { before: [recordCallsOf(relative(root, path))] },
    });
    return { format: "module", source: outputText, shortCircuit: true };
  },
});

// Runners are started with the same preload, although they do not inherit the environment.
process.execPath = wrapper;
const startedAt = performance.timeOrigin;
process.on("exit", () => {
  const record = { pid: process.pid, argv: process.argv.slice(1), startedAt, functions, calls };
  writeFileSync(join(callsDir, `${process.pid}.json`), JSON.stringify(record));
});

/** Calls `__recordCall` at the start of each function. */
function recordCallsOf(file) {
  return ({ factory }) => {
    const recording = (node) => {
      const { name } = node;
      const kind = ts.SyntaxKind[node.kind];
      const label = name && "text" in name ? name.text : kind;
      const index = functions.push([file, label, kind]) - 1;
      const callee = factory.createIdentifier("globalThis.__recordCall");
      return factory.createCallExpression(callee, undefined, [factory.createNumericLiteral(index)]);
    };
    return (sourceFile) => {
      const visit = (node) => {
        const visited = ts.visitEachChild(node, visit, undefined);
        if (!ts.isFunctionLike(visited) || !visited.body) return visited;
        const { body } = visited;
        if (!ts.isBlock(body)) {
          const both = factory.createComma(recording(visited), body);
          return replaceBody(visited, factory.createParenthesizedExpression(both));
        }
        const first = factory.createExpressionStatement(recording(visited));
        return replaceBody(visited, factory.updateBlock(body, [first, ...body.statements]));
      };
      return ts.visitNode(sourceFile, visit);
    };

    function replaceBody(node, body) {
      return ts.visitEachChild(node, (child) => (child === node.body ? body : child), undefined);
    }
  };
}

function toUrl(path) {
  return pathToFileURL(path).href;
}
