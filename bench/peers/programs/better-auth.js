// A peer: better-auth keeps the sessions, on PostgreSQL; the list is one route beside it, as an application would write it.
import { createServer } from 'node:http'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import pg from 'pg'

const { PORT, DATABASE_URL, KEY } = process.env
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 })
const options = {
  database: pool,
  baseURL: `http://127.0.0.1:${PORT}`,
  secret: KEY,
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
}
await (await getMigrations(options)).runMigrations()
await pool.query(`
  create table if not exists notification (
    seq bigserial primary key, id uuid not null unique default gen_random_uuid(), user_id text not null references "user",
    title text not null, body text, url text, category text, data jsonb,
    created_at timestamptz not null default now(), read_at timestamptz
  );
  create index if not exists notification_of_user on notification (user_id, seq desc);
`)
const auth = betterAuth(options)
const handle = toNodeHandler(auth)

createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost')
  if (pathname === '/health') return send(response, 200, { status: 'ok' })
  if (pathname !== '/notifications') return handle(request, response)
  if (request.method === 'POST') return deliver(request, response)
  const signedIn = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (signedIn === null) return send(response, 401, {})
  const limit = Math.min(Number(searchParams.get('limit') ?? 20), 100)
  const [items, counts] = await Promise.all([
    pool.query({
      name: 'items',
      text: 'select * from notification where user_id = $1 order by seq desc limit $2',
      values: [signedIn.user.id, limit],
    }),
    pool.query({
      name: 'counts',
      text: `select count(*)::int as total, count(*) filter (where read_at is null)::int as unread
        from notification where user_id = $1`,
      values: [signedIn.user.id],
    }),
  ])
  send(response, 200, { items: items.rows, ...counts.rows[0] })
}).listen(Number(PORT), '127.0.0.1')

async function deliver(request, response) {
  if (request.headers.authorization !== `Bearer ${KEY}`) return send(response, 401, {})
  const { username, title, body, url, category, data } = JSON.parse(await textOf(request))
  const { rows } = await pool.query({
    name: 'deliver',
    text: `insert into notification (user_id, title, body, url, category, data)
      select id, $2, $3, $4, $5, $6 from "user" where email = $1 returning id`,
    values: [username, title, body, url, category, data],
  })
  send(response, rows.length === 1 ? 201 : 404, rows[0] ?? {})
}

async function textOf(request) {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) text += piece
  return text
}

function send(response, status, value) {
  const body = JSON.stringify(value)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}
