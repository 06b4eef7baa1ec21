import { Toast } from "@base-ui/react/toast";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useEffect } from "react";
import { onFleetEvent } from "../api/fleet-events.ts";
import { toNotification } from "./notifications.ts";

interface ToastData {
  link: LinkProps;
}

const toastManager = Toast.createToastManager<ToastData>();
const maxToasts = 3;

/** Toasts for events elsewhere; an event on the current page shows no toast. */
export function Toasts() {
  useEffect(
    () =>
      onFleetEvent((event) => {
        const notification = toNotification(event);
        if (!notification || location.pathname === notification.path) return;
        const { title, description, link, isUrgent } = notification;
        toastManager.add({
          title,
          description,
          data: { link },
          priority: isUrgent ? "high" : "low",
        });
      }),
    [],
  );
  return (
    <Toast.Provider toastManager={toastManager} limit={maxToasts} timeout={6_000}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-16 z-50 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2 md:bottom-4">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager<ToastData>();
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="rounded border border-line-strong bg-surface shadow-popup data-limited:hidden"
    >
      <Toast.Content className="flex items-start gap-2 p-2.5">
        <Link {...toast.data?.link} className="min-w-0 flex-1 hover:underline">
          <Toast.Title className="font-medium" />
          <Toast.Description className="line-clamp-2 text-sm text-muted" />
        </Link>
        <Toast.Close aria-label="Close" className="rounded px-1.5 text-muted hover:bg-hover">
          ×
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
