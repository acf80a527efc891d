// Where to report a vulnerability (RFC 9116), and where users manage passkeys
// (https://www.w3.org/TR/passkey-endpoints/).
import { notFound } from '../basics/errors.ts'
import { component, example, string } from '../http/openapi/schema.ts'
import { forAnyone } from '../http/operation.ts'
import { sendObject } from '../http/response/send.ts'
import type { PageNeeds } from './page.ts'
import { pagePath } from './places.ts'

const page = example(string(), 'https://bell.example.org/account')
const dayMs = 86_400_000
/** RFC 9116 recommends under a year. */
const lifetimeMs = 180 * dayMs

export const securityTxt = forAnyone({
  summary: 'Where to report a vulnerability (RFC 9116), if `CARILLON_SECURITY_CONTACT` is set',
  responses: { 200: 'text' },
  refusals: ['NOT_FOUND'],
  async handle({ site, pages, users }: PageNeeds & { users: { now: () => number } }, _, reply) {
    if (pages.securityContact === undefined)
      throw notFound('This service names no contact for vulnerabilities')
    const midnight = Math.ceil((users.now() + lifetimeMs) / dayMs) * dayMs
    const lines = [
      `Contact: ${pages.securityContact}`,
      `Expires: ${new Date(midnight).toISOString()}`,
      `Canonical: ${site.publicUrl()}/.well-known/security.txt`,
    ]
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`)
  },
})

export const passkeyEndpoints = forAnyone({
  summary: 'The page on which a user adds and manages passkeys, for password managers',
  responses: { 200: component('PasskeyEndpoints', { enroll: page, manage: page }) },
  async handle(needs: PageNeeds, _, reply) {
    const account = new URL(pagePath(needs, 'account'), needs.site.publicUrl()).href
    return sendObject(reply, { enroll: account, manage: account })
  },
})
