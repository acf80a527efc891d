// The page and Carillon have one origin: Vite passes everything below /bell/ on to Carillon, as your proxy does in production.
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

const { CARILLON_URL = 'http://127.0.0.1:7464', PORT = '3000' } = process.env
const server = {
  host: '127.0.0.1',
  port: Number(PORT),
  strictPort: true,
  proxy: { '/bell': { target: CARILLON_URL, rewrite: (path) => path.replace('/bell', '') } },
}

export default defineConfig({
  plugins: [
    vue({
      template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('carillon-') } },
    }),
  ],
  server,
  // The element needs no inline script and no inline style.
  preview: {
    ...server,
    headers: { 'content-security-policy': "default-src 'self'; img-src data:" },
  },
})
