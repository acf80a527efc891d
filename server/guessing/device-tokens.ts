// A device on which a user signed in keeps a token. Its failures count apart, so that the user can
// sign in while others guess (OWASP, "device cookies"; decision 0039). It proves nothing, and names
// no user: `<device id>.<seal>~<seal>`, one seal for each user, the last first.
import type { FastifyRequest } from 'fastify'
import { deviceLabel, type RequestSource } from '../audit/entry.ts'
import { networksOf } from '../basics/ip-addresses.ts'
import { randomText, type Sealing } from '../basics/secrets.ts'
import { sessionSecrets } from '../http/request/credentials.ts'
import type { Site } from '../http/site.ts'

/** `isKnown`: by other means. `deviceGeneration`: if raised since, the sign-in is refused. */
export type SeenDevice = {
  label: string
  network: string
  isKnown: boolean
  keep: number
  deviceGeneration?: number
}

export type DeviceUser = { id: string; deviceGeneration: number }

/** The user who signed in longest ago is forgotten first. */
const maxUsers = 10
const maxKnownDevices = 50
const shape = /^([\w-]{22})\.([\w-]{43}(?:~[\w-]{43}){0,9})$/
/** Another host of the domain may add cookies of equal names. */
const maxPresented = 4

export const maxDeviceTokenLength = 22 + 44 * maxUsers

type Device = { id: string; seals: readonly string[] }
type Needs = { sealing: Pick<Sealing, 'mac' | 'isMac'> }

/** Undefined also if `deviceGeneration` was raised since. */
export function knownDevice(
  needs: Needs,
  presented: readonly string[],
  user: DeviceUser | undefined,
) {
  // An unknown user is checked, too, so that the response takes the same time.
  const device = known(needs, devicesIn(presented), user ?? { id: '', deviceGeneration: 0 })
  return user && device?.id
}

export function tokenAfterSignIn(
  needs: Needs,
  presented: readonly string[],
  user: DeviceUser,
): string {
  const devices = devicesIn(presented)
  const device = known(needs, devices, user) ?? devices[0]
  return withSealOf(needs, user, device ?? { id: randomText(16), seals: [] })
}

/** A known device keeps its id. Others share one per user: more links allow no more guesses. */
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

function known(
  { sealing }: Needs,
  devices: readonly Device[],
  user: DeviceUser,
): Device | undefined {
  return devices.find(({ id, seals }) =>
    seals.some((seal) => sealing.isMac('device-tokens', sealed(user, id), seal)),
  )
}

/** Each generation, device and user has another seal. */
function sealed({ id, deviceGeneration }: DeviceUser, deviceId: string): string {
  return `${id} ${deviceId} ${deviceGeneration}`
}

function devicesIn(presented: readonly string[]): Device[] {
  return presented.slice(0, maxPresented).flatMap((value) => {
    const [, id, seals] = shape.exec(value) ?? []
    return id === undefined || seals === undefined ? [] : [{ id, seals: seals.split('~') }]
  })
}

export function presentedDevices(
  { site }: { site: Site },
  { body, raw }: FastifyRequest,
): string[] {
  const { deviceToken } = (body ?? {}) as { deviceToken?: unknown }
  const cookies = sessionSecrets(raw.headers.cookie, site.deviceCookie.name)
  return typeof deviceToken === 'string' ? [deviceToken, ...cookies] : cookies
}

/** Without `ofNewDevices` all devices count as known. */
export function deviceOf(
  { notices }: { notices: { ofNewDevices: boolean } },
  source: RequestSource,
  isKnown: boolean,
): SeenDevice {
  const label = deviceLabel(source.userAgent) ?? ''
  const [network] = networksOf(source.address)
  return { label, network, isKnown: isKnown || !notices.ofNewDevices, keep: maxKnownDevices }
}
