// The two pages to which a one-time link leads, with their script and style sheet. The token is in the fragment of the address, which no request has:
// the script sends it to `POST /password/reset` (passwords.ts).
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import type { Dependencies } from '../../dependencies.ts'
import { isKnown } from '../../response/etag.ts'
import type { GuardedRequest, Operation } from '../operation.ts'

type Request = GuardedRequest<null>

/** The default policy, and in addition what the page loads: its own two files and one route. It has no form that a browser sends. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const words = {
  reset: {
    title: 'Choose a new password',
    label: 'New password',
    newLink: 'To get a new link, request one again where you requested this one.',
  },
  invite: {
    title: 'Choose a password',
    label: 'Password',
    newLink: 'To get a new link, write to the people who invited you.',
  },
} as const

export const resetPage: Operation<null> = {
  id: 'getResetPage',
  tag: 'pages',
  summary: 'The page of a link to set a new password, unless `CARILLON_RESET_PAGE` names another one',
  responses: { 200: 'html' },
  handle: sendResetPage,
}

async function sendResetPage(dependencies: Dependencies, _: Request, reply: FastifyReply) {
  return sendPage(dependencies, words.reset, reply)
}

export const invitePage: Operation<null> = {
  id: 'getInvitePage',
  tag: 'pages',
  summary: 'The page of a link to set a first password, unless `CARILLON_INVITE_PAGE` names another one',
  responses: { 200: 'html' },
  handle: sendInvitePage,
}

async function sendInvitePage(dependencies: Dependencies, _: Request, reply: FastifyReply) {
  return sendPage(dependencies, words.invite, reply)
}

/** No cache keeps it (the default): a browser would otherwise show it again by "back", with a typed password. */
function sendPage({ users }: Dependencies, texts: Readonly<Record<string, string>>, reply: FastifyReply) {
  const values: Readonly<Record<string, string>> = { ...texts, minLength: String(users.passwordMinLength) }
  const page = file('password.html').text.replaceAll(/{{(\w+)}}/g, (_, name: string) => values[name] as string)
  return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page)
}

export const script: Operation<null> = {
  id: 'getPasswordScript',
  tag: 'pages',
  summary: 'The script of these two pages',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: 'script', 304: 'none' },
  handle: sendScript,
}

async function sendScript(_: Dependencies, request: Request, reply: FastifyReply) {
  return sendFile('password.js', 'text/javascript; charset=utf-8', { request, reply })
}

export const style: Operation<null> = {
  id: 'getPasswordStyle',
  tag: 'pages',
  summary: 'The style sheet of these two pages',
  headers: { 'If-None-Match': 'The ETag of an earlier response: unchanged is 304' },
  responses: { 200: 'css', 304: 'none' },
  handle: sendStyle,
}

async function sendStyle(_: Dependencies, request: Request, reply: FastifyReply) {
  return sendFile('password.css', 'text/css; charset=utf-8', { request, reply })
}

/** A browser keeps it and checks it at each use, so that page and script are of one version. */
function sendFile(name: string, type: string, { request, reply }: { request: Request; reply: FastifyReply }) {
  const { text, etag } = file(name)
  reply.headers({ 'cache-control': 'no-cache', etag })
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  return reply.type(type).send(text)
}

type PageFile = { text: string; etag: string }
const read = new Map<string, PageFile>()

/** Read at its first request, and kept. */
function file(name: string): PageFile {
  const kept = read.get(name)
  if (kept !== undefined) return kept
  const text = readFileSync(new URL(`../../../pages/${name}`, import.meta.url), 'utf8')
  const found = { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 16)}"` }
  read.set(name, found)
  return found
}
