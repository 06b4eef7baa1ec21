import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import type { ReactNode } from "react";

interface DialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: string;
  note?: ReactNode;
  children: ReactNode;
}

export function Dialog({ open, onOpenChange, title, note, children }: DialogProps) {
  return (
    <BaseDialog.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-overlay" />
        <BaseDialog.Popup className="fixed top-[10vh] left-1/2 z-50 flex max-h-[80vh] w-[min(36rem,calc(100vw-2rem))] -translate-x-1/2 flex-col overflow-auto rounded-lg border border-line-strong bg-surface p-4 shadow-popup">
          <BaseDialog.Title className="text-md font-semibold">{title}</BaseDialog.Title>
          {note && (
            <BaseDialog.Description className="mt-0.5 text-sm text-muted">
              {note}
            </BaseDialog.Description>
          )}
          <div className="mt-3">{children}</div>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
