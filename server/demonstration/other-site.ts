// A page that stands for another site: the demonstration shows it in a frame with an origin of its own (`sandbox` without
// `allow-same-origin`), and it posts a form to the visitor's world, as a page of an attacker would.
import { createHash } from 'node:crypto'
import { invalidField } from '../basics/errors.ts'
import { object, oneOf, text } from '../http/openapi/schema.ts'
import { forAnyone } from '../http/operation.ts'

const targets = { logout: 'logout', 'read-all': 'api/notifications/read-all' } as const
const OtherSiteQuery = object({
  target: oneOf(['logout', 'read-all']),
  visit: text(1, 32),
})

export const otherSite = forAnyone({
  summary: 'A page that posts a form to the demonstration, for a frame with another origin',
  query: OtherSiteQuery,
  responses: { 200: 'html' },
  async handle(_, request, reply) {
    const { target, visit } = request.query
    if (!/^[\w-]+$/.test(visit)) throw invalidField('visit', 'must be the id of a visit')
    // 'self' of a framed page with an opaque origin is the origin of its address (CSP3, section 6.7.2.8).
    const policy =
      `default-src 'none'; script-src 'sha256-${scriptHash}'; form-action 'self'; ` +
      "frame-ancestors 'self'; base-uri 'none'; sandbox allow-forms allow-scripts"
    return reply
      .header('content-security-policy', policy)
      .type('text/html; charset=utf-8')
      .send(
        `<!doctype html><html lang="en"><title>Another site</title><form method="post" action="service/${targets[target]}?visit=${visit}"></form><script>${script}</script></html>`,
      )
  },
})

/** Sends the form at once. It has no other script, and the policy names this one by its hash. */
const script = 'document.forms[0].submit()'
const scriptHash = createHash('sha256').update(script).digest('base64')
