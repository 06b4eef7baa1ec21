import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { type PaletteItem, usePaletteItems } from "./command-palette-items.ts";

/** The ⌘K command palette: finds pages, agents and recent jobs by part of their name. */
export function Palette({ onClose }: { onClose(): void }) {
  const navigate = useNavigate();
  const items = usePaletteItems();
  const go = ({ link }: PaletteItem) => {
    onClose();
    void navigate(link);
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-overlay" />
        <Dialog.Popup
          aria-label="Go to"
          className="fixed top-[12vh] left-1/2 z-50 w-[min(34rem,calc(100vw-2rem))] -translate-x-1/2 overflow-hidden rounded-lg border border-line-strong bg-surface shadow-popup"
        >
          <Autocomplete.Root
            open
            inline
            items={items}
            itemToStringValue={({ title, note }) => `${title} ${note}`}
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label="Go to"
              placeholder="Search pages, agents and jobs…"
              className="h-11 w-full border-b border-line bg-transparent px-4 text-md outline-none placeholder:text-muted"
            />
            <Autocomplete.Empty className="text-muted [&:not(:empty)]:p-4">
              No results.
            </Autocomplete.Empty>
            <Autocomplete.List className="max-h-[50vh] overflow-y-auto p-1 empty:p-0">
              {(item: PaletteItem) => (
                <Autocomplete.Item
                  key={item.key}
                  value={item}
                  onClick={() => go(item)}
                  className="flex cursor-pointer items-baseline justify-between gap-4 rounded px-3 py-1.5 data-highlighted:bg-hover"
                >
                  <span className="truncate">{item.title}</span>
                  <span className="text-sm whitespace-nowrap text-muted">{item.note}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
