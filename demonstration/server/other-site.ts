// Another site's page, which posts a form to the visitor's world as an attacker would. For
// browsers, `localhost` and `127.0.0.1` are two sites.
import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { noSuchRoute } from '../../server/basics/errors.ts'
import { otherSiteOf } from '../../server/demonstration/other-site-of.ts'
import { object, string } from '../../server/http/openapi/schema.ts'
import { forAnyone } from '../../server/http/operation.ts'
import type { Worlds } from './worlds.ts'

/** First the reader sees the page. The policy names the script by its hash. */
const script = 'setTimeout(() => document.forms[0].submit(), 1500)'
const scriptHash = createHash('sha256').update(script).digest('base64')

export const otherSite = forAnyone({
  summary: 'A page of another site, if the service has two names',
  query: object({ visit: string({ pattern: '^[\\w-]{1,32}$' }) }),
  responses: { 200: 'html' },
  async handle({ worlds }: { worlds: Worlds }, { query, headers: { host = '' } }, reply) {
    const attacked = otherSiteOf(host)
    if (attacked === null) throw noSuchRoute()
    const place = `${attacked}${worlds.visitCookie.path}/service/api/notifications/read-all?visit=${query.visit}`
    const policy =
      `default-src 'none'; script-src 'sha256-${scriptHash}'; form-action ${attacked}; ` +
      `frame-ancestors ${attacked}; base-uri 'none'`
    // An attacker's requests also name their origin.
    const fields = {
      'content-security-policy': policy,
      'referrer-policy': 'strict-origin-when-cross-origin',
    }
    return reply
      .headers(fields)
      .type('text/html; charset=utf-8')
      .send(`<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>${host}</title>
<h1>${host}</h1><form method="post" action="${place}"><button>Click here to win a prize</button></form><script>${script}</script></html>`)
  },
})

/** The form comes from a frame; without this, the console would report its response. */
export function allowFrame(response: ServerResponse): void {
  const { writeHead } = response
  response.writeHead = ((status: number, fields: OutgoingHttpHeaders) => {
    const policy = String(fields['content-security-policy']).replace(
      "frame-ancestors 'none'",
      "frame-ancestors 'self'",
    )
    return writeHead.call(response, status, { ...fields, 'content-security-policy': policy })
  }) as typeof writeHead
}
