// Why the content of a delivery is refused, beyond its schema: links, images, languages, the size of its data, its end.
import { parseTime } from '../basics/clock.ts'
import type { Fault } from '../basics/errors.ts'
import { languageFaults } from '../users/profile.ts'
import type { GivenContent } from './delivery.schemas.ts'
import { imageFault, linkFault } from './link.ts'

const maxDataBytes = 8 * 1024
/** The limit of title and body in all languages together: twice what they need in one. */
const maxTextBytes = 32 * 1024

/** `at`: the time that users see. `imageHosts`: the hosts of absolute image URLs. */
export type ContentRules = { at: number; imageHosts: readonly string[] }

/** None if the content can be sent. */
export function contentFaults(content: Partial<GivenContent>, { at, imageHosts }: ContentRules): Fault[] {
  const { title, body, url, data, actor, icon, actions, expiresAt } = content
  const faults: Fault[] = []
  const note = (field: string, reason: string | undefined) => {
    if (reason !== undefined) faults.push({ field, reason })
  }
  if (url !== undefined) note('url', linkFault(url))
  for (const [n, action] of (actions ?? []).entries()) note(`actions.${n}.url`, linkFault(action.url))
  if (actor?.imageUrl != null) note('actor.imageUrl', imageFault(actor.imageUrl, imageHosts))
  if (typeof icon === 'object') note('icon.imageUrl', imageFault(icon.imageUrl, imageHosts))
  if ([title, body].some((text) => typeof text === 'object')) {
    faults.push(...languageFaults({ title, body }))
    note('body', tooLong({ title, body }, maxTextBytes, ' with title, in all languages'))
  }
  note('data', tooLong(data, maxDataBytes))
  if (expiresAt !== undefined && !(parseTime(expiresAt) > at))
    note('expiresAt', 'must be in the future, and before the year 10000')
  return faults
}

function tooLong(value: unknown, maxBytes: number, what = ''): string | undefined {
  const bytes = value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
  return bytes > maxBytes ? `must be at most ${maxBytes} bytes as JSON${what}` : undefined
}
