import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { keepImage, removeImages } from "../../packages/core/src/chat/kept-images.ts";
import type { ChatMessage } from "../../packages/core/src/state/chat.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";

const image = { number: 1, type: "image/png", content: Buffer.from("PIXELS") };
const message = { id: "message-1" } as ChatMessage;
const agentIn = (folder: string) =>
  agentOf(load(inlineAgent(`working_directory: ${folder}\ndocker: { enabled: true }`)), "one");

test("an image lies in the folder until its message is answered, and can be put there again", async () => {
  const folder = folderWith({});
  const agent = agentIn(folder);
  const path = await keepImage(agent, message, image);
  expect(await keepImage(agent, message, image)).toBe(path);
  const other = await keepImage(agent, { ...message, id: "message-2" }, image);
  expect(readFileSync(join(folder, path), "utf8")).toBe("PIXELS");
  await removeImages(agent, message);
  expect(existsSync(join(folder, path))).toBe(false);
  expect(existsSync(join(folder, other))).toBe(true);
  expect(existsSync(join(folder, ".herdctl-chat/.gitignore"))).toBe(true);
  await removeImages(agent, { ...message, id: "message-2" });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([[".herdctl-chat"], [".herdctl-chat/message-1"]])(
  "a link at %s that an agent left there is not followed, neither to write nor to delete",
  async (name) => {
    const folder = folderWith({});
    const elsewhere = folderWith({ "message-1/image-1.png": "MINE", "image-1.png": "MINE" });
    if (name.includes("/")) mkdirSync(join(folder, ".herdctl-chat"));
    symlinkSync(elsewhere, join(folder, name));
    await expect(keepImage(agentIn(folder), message, image)).rejects.toThrow();
    await removeImages(agentIn(folder), message);
    expect(readFileSync(join(elsewhere, "image-1.png"), "utf8")).toBe("MINE");
    expect(readFileSync(join(elsewhere, "message-1/image-1.png"), "utf8")).toBe("MINE");
  },
);

test("a link in the place of the image itself is replaced, and where it leads nothing is written", async () => {
  const elsewhere = folderWith({ "target.txt": "MINE" });
  const folder = folderWith({ ".herdctl-chat/message-1/other": "" });
  symlinkSync(join(elsewhere, "target.txt"), join(folder, ".herdctl-chat/message-1/image-1.png"));
  const path = await keepImage(agentIn(folder), message, image);
  expect(readFileSync(join(folder, path), "utf8")).toBe("PIXELS");
  expect(readFileSync(join(elsewhere, "target.txt"), "utf8")).toBe("MINE");
});
