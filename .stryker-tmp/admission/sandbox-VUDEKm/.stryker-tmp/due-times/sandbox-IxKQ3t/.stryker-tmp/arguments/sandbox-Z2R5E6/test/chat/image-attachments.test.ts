import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeImages, saveImage } from "../../packages/core/src/triggers/chat/images.ts";
import type { ChatMessage } from "../../packages/protocol/src/records/chat.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const image = { number: 1, type: "image/png", content: Buffer.from("PIXELS") };
const message = { id: "message-1" } as ChatMessage;
const agentIn = (folder: string) =>
  agentOf(
    loadTestFleet(inlineAgent(`working_directory: ${folder}\ndocker: { enabled: true }`)),
    "one",
  );

test("keeps an image in the folder until its message is answered, and can store it again", async () => {
  const folder = tempFolderWith({});
  const agent = agentIn(folder);
  const path = await saveImage(agent, message, image);
  expect(await saveImage(agent, message, image)).toBe(path);
  const other = await saveImage(agent, { ...message, id: "message-2" }, image);
  expect(readFileSync(join(folder, path), "utf8")).toBe("PIXELS");
  await removeImages(agent, message);
  expect(existsSync(join(folder, path))).toBe(false);
  expect(existsSync(join(folder, other))).toBe(true);
  expect(existsSync(join(folder, ".herdctl-chat/.gitignore"))).toBe(true);
  await removeImages(agent, { ...message, id: "message-2" });
  expect(readdirSync(folder)).toEqual([]);
});

test.each([[".herdctl-chat"], [".herdctl-chat/message-1"]])(
  "does not follow a link at %s that an agent left there, for writing or deleting",
  async (name) => {
    const folder = tempFolderWith({});
    const elsewhere = tempFolderWith({ "message-1/image-1.png": "MINE", "image-1.png": "MINE" });
    if (name.includes("/")) mkdirSync(join(folder, ".herdctl-chat"));
    symlinkSync(elsewhere, join(folder, name));
    await expect(saveImage(agentIn(folder), message, image)).rejects.toThrow();
    await removeImages(agentIn(folder), message);
    expect(readFileSync(join(elsewhere, "image-1.png"), "utf8")).toBe("MINE");
    expect(readFileSync(join(elsewhere, "message-1/image-1.png"), "utf8")).toBe("MINE");
  },
);

test("replaces a link in place of the image and writes nothing to its target", async () => {
  const elsewhere = tempFolderWith({ "target.txt": "MINE" });
  const folder = tempFolderWith({ ".herdctl-chat/message-1/other": "" });
  symlinkSync(join(elsewhere, "target.txt"), join(folder, ".herdctl-chat/message-1/image-1.png"));
  const path = await saveImage(agentIn(folder), message, image);
  expect(readFileSync(join(folder, path), "utf8")).toBe("PIXELS");
  expect(readFileSync(join(elsewhere, "target.txt"), "utf8")).toBe("MINE");
});
