// Tells systemd that the service is ready, works, and stops (sd_notify(3)). systemd-notify sends it, since Node has no Unix datagram socket.
// Without systemd nothing is sent.
import { spawn } from 'node:child_process'

export type SupervisorState = 'READY=1' | 'WATCHDOG=1' | 'STOPPING=1'

export function notifySupervisor(state: SupervisorState): void {
  const { NOTIFY_SOCKET, PATH } = process.env
  if (NOTIFY_SOCKET === undefined) return
  // If the program is missing, systemd says that the service did not become ready.
  spawn('systemd-notify', [state], { env: { NOTIFY_SOCKET, PATH }, stdio: 'ignore' }).on('error', () => {})
}

/** A process whose event loop does not turn sends nothing, and systemd restarts it. */
export function feedWatchdog(): void {
  const microseconds = Number(process.env.WATCHDOG_USEC)
  if (microseconds > 0) setInterval(() => notifySupervisor('WATCHDOG=1'), microseconds / 2000).unref()
}
