import { Menu } from "@base-ui/react/menu";
import type { Job } from "@herdctl/server/contract";
import { urlOf } from "../../api/call-fleet.ts";
import type { Entry } from "../../transcript/entry.ts";
import { formatTranscript } from "../../transcript/format-transcript.ts";

interface DownloadMenuProps {
  job: Job;
  /** Read when the user chooses, because a running job adds entries. */
  readEntries(): readonly Entry[];
}

const itemClass = "block w-full rounded px-3 py-1.5 text-left data-highlighted:bg-hover";

/** Downloads the log, as herdctl stores it, or the conversation as Markdown. */
export function DownloadMenu({ job, readEntries }: DownloadMenuProps) {
  return (
    <Menu.Root>
      <Menu.Trigger className="inline-flex h-8 items-center gap-1.5 rounded border border-line-strong bg-surface px-3 font-medium hover:bg-hover">
        Download <span aria-hidden>▾</span>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="z-50" align="end" sideOffset={4}>
          <Menu.Popup className="rounded border border-line-strong bg-surface p-1 shadow-popup">
            <Menu.Item
              className={itemClass}
              onClick={() =>
                download(`${job.id}.md`, URL.createObjectURL(toBlob(job, readEntries())))
              }
            >
              Transcript (Markdown)
            </Menu.Item>
            <Menu.Item
              className={itemClass}
              onClick={() =>
                download(`${job.id}.jsonl`, urlOf("output", { params: { id: job.id } }))
              }
            >
              Log (JSON lines)
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function toBlob(job: Job, entries: readonly Entry[]): Blob {
  return new Blob([formatTranscript(job, entries)], { type: "text/markdown" });
}

function download(name: string, url: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has its own reference once it has started.
  if (url.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
