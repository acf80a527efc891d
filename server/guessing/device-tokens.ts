// On which devices has a user signed in? After a sign-in the device keeps a token that says so, in a cookie or in the application. Its
// failures are counted by themselves, so that a user signs in on a known device while others guess the password (OWASP, "device cookies";
// decision 0039). A token is no proof: it allows to try a password and nothing else. It names no user: `<id of the device>.<seal>~<seal>`,
// with one seal for each user of the device, the last user first.
import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Sealing } from '../basics/secrets.ts'
import { sessionSecrets } from '../http/request/credentials.ts'
import type { Site } from '../http/site.ts'

export type DeviceUser = { id: string; deviceGeneration: number }

/** Users of one device. The one who signed in longest ago is forgotten first. */
const maxUsers = 10
const shape = /^([\w-]{22})\.([\w-]{43}(?:~[\w-]{43}){0,9})$/
/** Values that are read of one request: another host of the domain may add cookies of the same name. */
const maxPresented = 4

export const maxDeviceTokenLength = 22 + 44 * maxUsers

type Device = { id: string; seals: readonly string[] }
type Needs = { sealing: Pick<Sealing, 'mac' | 'isMac'> }

/** The id of the device if the user has signed in on it and `deviceGeneration` was not raised since; otherwise undefined. */
export function knownDevice(needs: Needs, presented: readonly string[], user: DeviceUser | undefined) {
  // Also for a user who does not exist, so that the response takes the same time.
  const device = known(needs, devicesIn(presented), user ?? { id: '', deviceGeneration: 0 })
  return user && device?.id
}

/** The token after a sign-in of `user`: that of the device that was presented, also for its other users, or a new one. */
export function tokenAfterSignIn(needs: Needs, presented: readonly string[], user: DeviceUser): string {
  const devices = devicesIn(presented)
  const device = known(needs, devices, user) ?? devices[0]
  return withSealOf(needs, user, device ?? { id: randomBytes(16).toString('base64url'), seals: [] })
}

/**
 * The token after a one-time link set the password of `user`, who may still have to prove a second factor. `before`: the user before
 * that. A device that was known keeps its id. All others have one id for each user, so that each further link does not
 * allow further guesses of the second factor.
 */
export function tokenAfterLink(
  needs: Needs,
  presented: readonly string[],
  users: Record<'before' | 'user', DeviceUser>,
) {
  const { before, user } = users
  const id = needs.sealing.mac('device-tokens', `link ${user.id}`).slice(0, 22)
  return withSealOf(needs, user, known(needs, devicesIn(presented), before) ?? { id, seals: [] })
}

function withSealOf({ sealing }: Needs, user: DeviceUser, { id, seals }: Device): string {
  const text = sealed(user, id)
  const others = seals.filter((seal) => !sealing.isMac('device-tokens', text, seal))
  return `${id}.${[sealing.mac('device-tokens', text), ...others].slice(0, maxUsers).join('~')}`
}

function known({ sealing }: Needs, devices: readonly Device[], user: DeviceUser): Device | undefined {
  return devices.find(({ id, seals }) => seals.some((seal) => sealing.isMac('device-tokens', sealed(user, id), seal)))
}

/** All that a seal is for. Another generation, another device or another user has another seal. */
function sealed({ id, deviceGeneration }: DeviceUser, deviceId: string): string {
  return `${id} ${deviceId} ${deviceGeneration}`
}

function devicesIn(presented: readonly string[]): Device[] {
  return presented.slice(0, maxPresented).flatMap((value) => {
    const [, id, seals] = shape.exec(value) ?? []
    return id === undefined || seals === undefined ? [] : [{ id, seals: seals.split('~') }]
  })
}

/** The device tokens of a request: the application's, in the body of a sign-in, and those of the browser's cookie. */
export function presentedDevices({ site }: { site: Site }, { body, raw }: FastifyRequest): string[] {
  const { deviceToken } = (body ?? {}) as { deviceToken?: unknown }
  const cookies = sessionSecrets(raw.headers.cookie, site.deviceCookie.name)
  return typeof deviceToken === 'string' ? [deviceToken, ...cookies] : cookies
}
