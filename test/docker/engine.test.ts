import { expect, test } from "vitest";
import { connectEngine, imageInfo } from "../../packages/core/src/runner/container/engine.ts";
import { testEngine } from "../support/engine.ts";

const { dockerHost, image } = await testEngine();

test("the image says which claude it carries and by which rules it is launched", async () => {
  const engine = await connectEngine({ DOCKER_HOST: dockerHost });
  expect(await imageInfo(engine, image)).toMatchObject({
    kind: "present",
    labels: { "herdctl.image": "1", "herdctl.claude": image.split(":")[1] },
  });
});

test("an image that is not there is missing, not an error", async () => {
  const engine = await connectEngine({ DOCKER_HOST: dockerHost });
  expect(await imageInfo(engine, "herdctl/no-such-image")).toEqual({ kind: "missing" });
});
