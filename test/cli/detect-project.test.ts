import { expect, test } from "vitest";
import { detectProject } from "../../packages/cli/src/init/detect-project.ts";

const npmDefault = 'echo "Error: no test specified" && exit 1';

test.each<[files: Record<string, string>, language: string, tests: string | undefined]>([
  [{ "package.json": '{"scripts":{"test":"vitest"}}' }, "JavaScript", "npm test"],
  [
    {
      "package.json": '{"scripts":{"test":"vitest"}}',
      "pnpm-lock.yaml": "",
      "tsconfig.json": "{}",
    },
    "TypeScript",
    "pnpm test",
  ],
  [
    { "package.json": '{"packageManager":"yarn@4.1.0","scripts":{"test":"jest"}}' },
    "JavaScript",
    "yarn test",
  ],
  [{ "package.json": '{"scripts":{"test":"x"}}', "bun.lock": "" }, "JavaScript", "bun run test"],
  [{ "package.json": JSON.stringify({ scripts: { test: npmDefault } }) }, "JavaScript", undefined],
  [{ "package.json": "{ not JSON" }, "JavaScript", undefined],
  [{ "package.json": "[]", Makefile: "all:\ntest:\n\ttrue\n" }, "JavaScript", "make test"],
  [
    { "pyproject.toml": "[tool.pytest.ini_options]", "uv.lock": "" },
    "Python",
    "uv run python -m pytest",
  ],
  [{ "requirements.txt": "flask", "tests/__init__.py": "" }, "Python", "python -m unittest"],
  [{ "requirements.txt": "flask" }, "Python", undefined],
  [{ "go.mod": "" }, "Go", "go test ./..."],
  [{ Gemfile: "gem 'rspec'" }, "Ruby", "bundle exec rspec"],
  [{ "pom.xml": "", mvnw: "" }, "Java", "./mvnw test"],
  [{ "composer.json": '{"scripts":{"test":"phpunit"}}' }, "PHP", "composer test"],
  [{ Makefile: "test: build\n" }, "Makefile", "make test"],
])("recognises the project of %j", (files, language, testCommand) => {
  expect(detectProject((name) => files[name])).toMatchObject({ language });
  expect(detectProject((name) => files[name])?.testCommand).toBe(testCommand);
});

test("recognises no project in a folder without known files", () => {
  expect(detectProject(() => undefined)).toBeUndefined();
});
