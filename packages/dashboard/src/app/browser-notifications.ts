import { onFleetEvent } from "../api/fleet-events.ts";
import { toNotification } from "./notifications.ts";

const storageKey = "notifications";

export type NotificationState = "on" | "off" | "denied" | "unsupported";

export function readNotificationState(): NotificationState {
  if (!("Notification" in window) || !("serviceWorker" in navigator)) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  const isOn = localStorage.getItem(storageKey) === "on" && Notification.permission === "granted";
  return isOn ? "on" : "off";
}

/** Asks the user for permission if needed. */
export async function switchNotifications(isOn: boolean): Promise<NotificationState> {
  localStorage.setItem(storageKey, isOn ? "on" : "off");
  if (isOn && Notification.permission === "default") await Notification.requestPermission();
  return readNotificationState();
}

/** Keeps the files of the dashboard, so that the installed app opens while the fleet is away. */
export async function registerServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  // A browser may refuse it, such as in a private window. The dashboard works without it.
  await navigator.serviceWorker.register("/sw.js").catch(() => undefined);
}

/**
 * Notifies of questions, permission requests and failures while the dashboard is open but not in
 * sight. Several tabs show one notification, because it has the same tag in each.
 */
export function notifyWhileHidden(): () => void {
  return onFleetEvent((event) => {
    if (!document.hidden || readNotificationState() !== "on") return;
    const notification = toNotification(event);
    if (!notification?.isUrgent) return;
    const { title, description, path } = notification;
    const tag = "approval" in event ? event.approval.id : path;
    void navigator.serviceWorker.ready.then((registration) =>
      registration.showNotification(title, {
        body: description,
        tag,
        icon: "/icon-192.png",
        data: { path },
      }),
    );
  });
}
