import { expect, test } from "vitest";
import { unreachableError } from "../../packages/core/src/docker/engine.ts";
import { toRefusal } from "../../packages/core/src/runner/execution/classify-outcome.ts";
import { outcomes } from "../../packages/protocol/src/outcome-table.ts";

const address = { socketPath: "/var/run/docker.sock", source: "the default" };

test.each(["EACCES", "EPERM"])(
  "%s on the socket ends the job with the command that helps",
  (code) => {
    const error = unreachableError(address, Object.assign(new Error(code), { code }));
    const refusal = toRefusal(error);
    expect(refusal.code).toBe("docker_denied");
    expect(refusal.hint).toMatch(/^Run `sudo usermod -aG docker \S+`, log in again/);
    expect(outcomes.docker_denied.retry).toBe("no");
  },
);

test("an engine that is not running may come back", () => {
  const refusal = toRefusal(
    unreachableError(address, Object.assign(new Error(), { code: "ECONNREFUSED" })),
  );
  expect(refusal.code).toBe("docker_unavailable");
  expect(outcomes.docker_unavailable.retry).toBe("backoff");
});
