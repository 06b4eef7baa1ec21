import { Dialog } from "../ui/dialog.tsx";
import { modifierKey } from "./platform-keys.ts";
import { useNavigationPages } from "./use-navigation-pages.ts";

const generalKeys: [keys: string, action: string][] = [
  [`${modifierKey}K`, "Go to a page, an agent or a recent job"],
  ["/", "Find in the current list"],
  ["j, k", "Next and previous row"],
  ["Enter", "Open the row"],
  [`${modifierKey}Enter`, "Send a prompt"],
  ["Enter, Shift+Enter", "Next and previous match in a job"],
  ["Escape", "Close a dialog"],
  ["?", "Show these shortcuts"],
];

export function KeysDialog({ onClose }: { onClose(): void }) {
  const pages = useNavigationPages();
  const pageKeys = pages.map(({ letter, title }): [string, string] => [`g ${letter}`, title]);
  return (
    <Dialog open onOpenChange={(isOpen) => !isOpen && onClose()} title="Keyboard shortcuts">
      <div className="grid gap-x-8 gap-y-4 sm:grid-cols-[3fr_2fr]">
        <KeyList keys={generalKeys} />
        <KeyList keys={pageKeys} />
      </div>
    </Dialog>
  );
}

function KeyList({ keys }: { keys: [keys: string, action: string][] }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] content-start items-baseline gap-x-3 gap-y-1.5">
      {keys.map(([key, action]) => (
        <div key={key} className="contents">
          <dt>
            <kbd className="rounded-sm border border-line-strong bg-sunken px-1.5 font-mono text-sm whitespace-nowrap">
              {key}
            </kbd>
          </dt>
          <dd>{action}</dd>
        </div>
      ))}
    </dl>
  );
}
