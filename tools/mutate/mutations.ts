// Every row of the table, in the order in which they run: the security checks of server/sign-in and server/http/request, and those of the
// store and the routes that complete them.
import type { Mutation } from './mutation.ts'
import { factors } from './table/factors.ts'
import { linksAndProviders } from './table/links-and-providers.ts'
import { plainList } from './table/plain-list.ts'
import { requests } from './table/requests.ts'
import { signIns } from './table/sign-ins.ts'
import { tokens } from './table/tokens.ts'

export const mutations: readonly Mutation[] = [
  ...tokens,
  ...signIns,
  ...factors,
  ...linksAndProviders,
  ...requests,
  ...plainList,
]
