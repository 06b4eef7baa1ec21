import type { Defence } from "../defence.ts";

const environment = "packages/core/src/runner/environment.ts";
const repositoryTest = "test/runner/hostile-repository.test.ts";
const decidersTest = "test/runner/deciders.test.ts";

export const runDefences: readonly Defence[] = [
  {
    name: "a run is given a placeholder for the key",
    guards: "the API key, against tools that print the environment",
    edit: {
      file: environment,
      from: "if (!inside) return gateway ?",
      to: "if (inside === null) return gateway ?",
    },
    red: { file: repositoryTest, test: "no tool sees the key" },
  },
  {
    name: "only a short list of variables is inherited",
    guards: "the environment of whoever starts the fleet",
    edit: {
      file: environment,
      from: 'if (inherited.has(name) || name.startsWith("LC_")) return true;',
      to: "if (name) return true;",
    },
    red: { file: decidersTest, test: "is a short list and what the agent says" },
  },
  {
    name: "a run on the subscription is given no key",
    guards: "the operator's bill",
    edit: {
      file: environment,
      from: "for (const name of credentialVariables) delete env[name];",
      to: "if (fleet.ANTHROPIC_API_KEY) env.ANTHROPIC_API_KEY = fleet.ANTHROPIC_API_KEY;",
    },
    red: { file: decidersTest, test: "a run on the subscription is given no key" },
  },
  {
    name: "what an agent's env says of decided variables changes nothing",
    guards: "a program that hands us an agent which no configuration saw",
    edit: {
      file: environment,
      from: "Object.entries(env).filter(([name]) => !decided.has(name))",
      to: "Object.entries(env).filter(([name]) => name !== decided.toString())",
    },
    red: { file: decidersTest, test: "an agent's own CLAUDE_CONFIG_DIR changes nothing" },
  },
  {
    name: "the metadata file must lie in the workspace",
    guards: "files of the host, against links that an agent makes",
    edit: {
      file: "packages/core/src/runner/workspace-file.ts",
      from: "if (!real.startsWith(root + sep)) return refused(outside);",
      to: "if (!real.startsWith(sep)) return refused(root);",
    },
    red: { file: "test/runner/job.test.ts", test: "a metadata file that leads out" },
  },
  {
    name: "an artifact is judged by the file that was opened",
    guards: "files of the host, against links that an agent makes",
    edit: {
      file: "packages/core/src/runner/workspace-file.ts",
      from: "if (!real.startsWith(root + sep)) return refused(outside);",
      to: "if (!real.startsWith(sep)) return refused(root);",
    },
    red: {
      file: "test/herd-tools/artifact.test.ts",
      test: "a folder that turns into a link at the wrong moment brings out nothing",
    },
  },
  {
    name: "a note has a name and no path",
    guards: "files beyond the agent's notes",
    edit: {
      file: "packages/core/src/state/memory.ts",
      from: 'return namePattern.test(name) && !name.endsWith(".md");',
      to: 'return !namePattern.test("") && !name.endsWith(".md");',
    },
    red: { file: "test/herd-tools/memory.test.ts", test: "no name leads out of the agent's own" },
  },
  {
    name: "what carries the marker of a run is swept",
    guards: "the machine, against tools that leave processes behind",
    edit: {
      file: "packages/core/src/runner/sweep/marker.ts",
      from: "if (environ !== undefined && carriesMarker(environ, runToken)) {",
      to: 'if (environ === "" && carriesMarker(environ, runToken)) {',
    },
    red: {
      file: "test/runner/sweep.test.ts",
      test: "by marker and descendants alone goes when it has left its session and lost its parent",
    },
  },
  {
    name: "a launcher of a dead runner is ended before it is `claude`",
    guards: "a session, against two at work in it after a crash",
    edit: {
      file: "packages/core/src/runner-process/run-tokens.ts",
      from: "own: [...launcher, runTokenOf({ jobId, attempt })],",
      to: "own: [...launcher.slice(1), runTokenOf({ jobId, attempt })],",
    },
    red: {
      file: "test/runner-process/recovery.test.ts",
      test: "a launcher that was told just before its runner died",
    },
  },
  {
    name: "the marker is a whole entry of the environment",
    guards: "other runs and the user's processes, against our own sweep",
    edit: {
      file: "packages/core/src/runner/sweep/marker.ts",
      from: "return `\\0${environ}\\0`.includes(`\\0${runMarker}=${runToken}\\0`);",
      to: "return environ.includes(`${runMarker}=${runToken}`);",
    },
    red: { file: "test/runner/sweep.test.ts", test: "are one whole entry of its environment" },
  },
  {
    name: "a token in a repository's address goes by a header",
    guards: "tokens, against the process list and the clone",
    edit: {
      file: "packages/core/src/runner/workspace-repo.ts",
      from: "return { url: parsed.href, header: { scope: `${parsed.origin}/`, value } };",
      to: "return { url: repo, header: { scope: `${parsed.origin}/`, value } };",
    },
    red: { file: "test/runner/workspace.test.ts", test: "gets a token by a header" },
  },
  {
    name: "secrets are masked in the fleet's log",
    guards: "secrets, against whoever is sent the log",
    edit: {
      file: "packages/core/src/fleet/log.ts",
      from: "{ write: (line: string) => file.write(hide(line)) },",
      to: "{ write: (line: string) => file.write(hide('') + line) },",
    },
    red: { file: "test/fleet/log.test.ts", test: "secrets are not written" },
  },
  {
    name: "control characters are shown as text",
    guards: "the terminal, against what agents say",
    edit: {
      file: "packages/cli/src/show/harmless.ts",
      from: "return lines.replace(unfit, visible);",
      to: "return lines.replace(unfit, (one) => one || visible(one));",
    },
    red: { file: "test/cli/trigger-rendering.test.ts", test: "does not reach the terminal" },
  },
  {
    name: "an approval is used once",
    guards: "what a person allowed, against a second use",
    edit: {
      file: "packages/core/src/state/sql/approval-store.ts",
      from: "return yield* this.#spend(yield* this.#expect(id));",
      to: 'return (yield* this.#expect(id)).answer === "allow";',
    },
    red: { file: "test/state/approvals.test.ts", test: "an allow is good for one use" },
  },
];
