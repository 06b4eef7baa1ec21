/** What the files of a folder show about the project in it. */
export interface Project {
  language: string;
  /** Undefined if the language has only one, or none was recognised. */
  packageManager?: string;
  testCommand?: string;
  /** The image on which an agent in a container can run the tests. */
  baseImage?: string;
}

/** The text of a file of the folder; undefined if there is none. */
export type ReadFile = (name: string) => string | undefined;

interface Language {
  markers: readonly string[];
  describe(read: ReadFile): Project;
}

/** The first match counts, so languages that also use another one's files come first. */
const languages: readonly Language[] = [
  { markers: ["deno.json", "deno.jsonc"], describe: () => tests("TypeScript", "deno test") },
  { markers: ["package.json"], describe: describeNode },
  {
    markers: ["pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"],
    describe: describePython,
  },
  { markers: ["Cargo.toml"], describe: () => tests("Rust", "cargo test", "rust:1") },
  { markers: ["go.mod"], describe: () => tests("Go", "go test ./...", "golang:1") },
  { markers: ["Gemfile"], describe: describeRuby },
  { markers: ["mix.exs"], describe: () => tests("Elixir", "mix test", "elixir:1") },
  { markers: ["pom.xml"], describe: describeMaven },
  { markers: ["build.gradle", "build.gradle.kts"], describe: describeGradle },
  { markers: ["composer.json"], describe: describePhp },
];

/** Recognises the language, the package manager and the test command. */
export function detectProject(read: ReadFile): Project | undefined {
  const has = (name: string) => read(name) !== undefined;
  const language = languages.find(({ markers }) => markers.some(has));
  const project = language?.describe(read);
  if (project?.testCommand !== undefined || !/^test:/m.test(read("Makefile") ?? "")) return project;
  return { ...(project ?? { language: "Makefile" }), testCommand: "make test" };
}

function tests(language: string, testCommand: string, baseImage?: string): Project {
  return { language, testCommand, ...(baseImage !== undefined && { baseImage }) };
}

const nodeLockFiles: readonly [file: string, manager: string][] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

function describeNode(read: ReadFile): Project {
  const manifest = parseJson(read("package.json"));
  const [, named] = /^(npm|pnpm|yarn|bun)@/.exec(textOf(manifest.packageManager)) ?? [];
  const locked = nodeLockFiles.find(([file]) => read(file) !== undefined)?.[1];
  const packageManager = named ?? locked ?? "npm";
  const script = textOf(asRecord(manifest.scripts).test);
  // The script that `npm init` writes always fails.
  const hasTests = script !== "" && !script.includes("no test specified");
  return {
    language: read("tsconfig.json") === undefined ? "JavaScript" : "TypeScript",
    packageManager,
    baseImage: packageManager === "bun" ? "oven/bun:1" : "node:22-slim",
    ...(hasTests && {
      testCommand: `${packageManager === "bun" ? "bun run" : packageManager} test`,
    }),
  };
}

const pythonManagers: readonly [file: string, manager: string][] = [
  ["uv.lock", "uv"],
  ["poetry.lock", "poetry"],
  ["pdm.lock", "pdm"],
];

function describePython(read: ReadFile): Project {
  const packageManager = pythonManagers.find(([file]) => read(file) !== undefined)?.[1];
  const files = ["pyproject.toml", "setup.cfg", "requirements.txt", "requirements-dev.txt"];
  const isPytest =
    read("pytest.ini") !== undefined || files.some((name) => read(name)?.includes("pytest"));
  const run = packageManager === undefined ? "" : `${packageManager} run `;
  const testCommand = isPytest ? "python -m pytest" : "python -m unittest";
  return {
    language: "Python",
    ...(packageManager !== undefined && { packageManager }),
    ...((isPytest || read("tests/__init__.py") !== undefined) && {
      testCommand: `${run}${testCommand}`,
    }),
    baseImage: "python:3-slim",
  };
}

function describeRuby(read: ReadFile): Project {
  const ruby = { language: "Ruby", packageManager: "bundler", baseImage: "ruby:3" };
  if (read("Gemfile")?.includes("rspec") || read(".rspec") !== undefined)
    return { ...ruby, testCommand: "bundle exec rspec" };
  return read("Rakefile") === undefined ? ruby : { ...ruby, testCommand: "bundle exec rake test" };
}

function describeMaven(read: ReadFile): Project {
  const command = read("mvnw") === undefined ? "mvn" : "./mvnw";
  return {
    ...tests("Java", `${command} test`, "maven:3-eclipse-temurin-21"),
    packageManager: "maven",
  };
}

function describeGradle(read: ReadFile): Project {
  const command = read("gradlew") === undefined ? "gradle" : "./gradlew";
  return { ...tests("Java", `${command} test`, "gradle:8-jdk21"), packageManager: "gradle" };
}

function describePhp(read: ReadFile): Project {
  const scripts = asRecord(parseJson(read("composer.json")).scripts);
  const php = { language: "PHP", packageManager: "composer", baseImage: "composer:2" };
  return scripts.test === undefined ? php : { ...php, testCommand: "composer test" };
}

function parseJson(text: string | undefined): Record<string, unknown> {
  try {
    return asRecord(JSON.parse(text ?? ""));
  } catch {
    return {};
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
