// The script of the account page: puts the frame with its sections in its place.
import { AccountFrame } from './account-frame.ts'
import type { Account } from './account-section.ts'

const place = document.getElementById('account')
const { root = '', pages = '', passwordMin, providers = '[]' } = place?.dataset ?? {}
const offered = JSON.parse(providers) as Account['offered']
place?.append(new AccountFrame({ root, pages, passwordMinLength: Number(passwordMin), offered }))
