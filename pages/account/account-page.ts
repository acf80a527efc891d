// The script of the account page: puts the frame with its sections in its place.
import { AccountFrame } from './account-frame.ts'

const place = document.getElementById('account')
const { root = '', pages = '', passwordMin } = place?.dataset ?? {}
place?.append(new AccountFrame({ root, pages, passwordMinLength: Number(passwordMin) }))
