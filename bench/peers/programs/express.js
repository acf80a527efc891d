// A peer: what an application writes for itself with Express, express-session and knex, on PostgreSQL.
import { createHash, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { ConnectSessionKnexStore } from 'connect-session-knex'
import express from 'express'
import session from 'express-session'
import createKnex from 'knex'

const { PORT, DATABASE_URL, KEY } = process.env
const knex = createKnex({ client: 'pg', connection: DATABASE_URL, pool: { min: 2, max: 10 } })
await makeTables()

const app = express().disable('x-powered-by').use(express.json())
const store = new ConnectSessionKnexStore({ knex, tableName: 'session', createTable: true })
const sessions = session({
  store,
  secret: KEY,
  resave: false,
  saveUninitialized: false,
  cookie: { maxAge: 86_400_000 },
})
const sha256 = (text) => createHash('sha256').update(text).digest()
const hashOf = (password, salt) => promisify(scrypt)(password, salt, 32)

app.get('/health', (_request, response) => response.json({ status: 'ok' }))

app.post('/users', needsKey, async ({ body: { username, password } }, response) => {
  const id = randomUUID()
  await knex('user').insert({ id, username, password_hash: await hashOf(password, id) })
  response.status(201).json({ id })
})

app.post('/login', sessions, async (request, response) => {
  const { username, password } = request.body
  const user = await knex('user').where({ username }).first()
  const given = await hashOf(password, user?.id ?? '')
  if (user === undefined || !timingSafeEqual(given, user.password_hash)) return response.sendStatus(401)
  request.session.userId = user.id
  response.json({ id: user.id })
})

app.get('/notifications', sessions, async (request, response) => {
  const { userId } = request.session
  if (userId === undefined) return response.sendStatus(401)
  const limit = Math.min(Number(request.query.limit ?? 20), 100)
  const [items, [{ total, unread }]] = await Promise.all([
    knex('notification').where({ user_id: userId }).orderBy('seq', 'desc').limit(limit),
    knex('notification')
      .where({ user_id: userId })
      .select(knex.raw('count(*)::int as total, count(*) filter (where read_at is null)::int as unread')),
  ])
  response.json({ items, total, unread })
})

app.post('/notifications', needsKey, async ({ body: { username, ...content } }, response) => {
  const user = await knex('user').where({ username }).first('id')
  if (user === undefined) return response.sendStatus(404)
  const [{ id }] = await knex('notification')
    .insert({ user_id: user.id, ...content })
    .returning('id')
  response.status(201).json({ id })
})

app.listen(Number(PORT), '127.0.0.1')

function needsKey(request, response, next) {
  if (timingSafeEqual(sha256(request.get('authorization') ?? ''), sha256(`Bearer ${KEY}`))) next()
  else response.sendStatus(401)
}

async function makeTables() {
  await knex.raw(`
    create table if not exists "user" (id uuid primary key, username text unique, password_hash bytea);
    create table if not exists notification (
      seq bigserial primary key, id uuid not null unique default gen_random_uuid(), user_id uuid not null references "user",
      title text not null, body text, url text, category text, data jsonb,
      created_at timestamptz not null default now(), read_at timestamptz
    );
    create index if not exists notification_of_user on notification (user_id, seq desc);
  `)
}
