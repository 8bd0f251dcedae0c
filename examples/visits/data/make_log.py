#!/usr/bin/env python3
"""Writes the made-up log of a made-up shop, in the combined format of web servers: make_log.py >access.log

The addresses are those that RFC 5737 reserves for examples. The same seed always writes the same lines.
"""
import random
import time
from urllib.parse import quote_plus

random.seed(1633)
SHOP = "https://shop.example"
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64) Firefox/115.0", "Mozilla/5.0 (Windows NT 10.0) Chrome/120.0",
          "Mozilla/5.0 (iPhone) Safari/605.1", 'Reader \\"quoted\\"/1.0']
TERMS = ["red shoes", "rain coat", "shoes", "hat & scarf", "wool socks", "blue hat"]
NETS = ["192.0.2.", "198.51.100.", "203.0.113."]
PATHS = ["/", "/about", "/product/shoes-red", "/product/shoes-blue", "/product/coat-rain", "/product/hat-blue",
         "/product/scarf", "/product/socks-wool", "/product/socks-wool/care-instructions-and-sizes",
         "/style.css", "/logo.png"]

lines = []
for number in range(32):
    ip = random.choice(NETS) + str(random.randint(1, 20))
    agent = random.choice(AGENTS)
    at = 1767225600 + random.randint(0, 2 * 86400)  # 2026-01-01
    came = random.random()
    referer = "-" if came < 0.4 else "https://search.example/?q=" + quote_plus(random.choice(TERMS))
    basket = []
    for _ in range(random.randint(2, 12)):
        path = random.choice(PATHS)
        if random.random() < 0.12:
            path = "/search?q=" + quote_plus(random.choice(TERMS))
        if len(basket) > 1 and random.random() < 0.35:
            path = f"/checkout?cart=c{number}-{len(basket)}&items=" + "+".join(basket)
            basket = []
        if path.startswith("/product/") and path.split("/")[2] not in basket:
            basket.append(path.split("/")[2])
        lines.append((at, ip, path, random.randint(300, 30000), referer, agent))
        referer = SHOP + path if not path.endswith((".css", ".png")) else referer
        at += random.choice([0, 0, 1, 7, 30, 400, 4000])
lines.sort(key=lambda line: line[0])
for at, ip, path, size, referer, agent in lines:
    when = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(at))
    print(f'{ip} - - [{when}] "GET {path} HTTP/1.1" 200 {size} "{referer}" "{agent}"')
